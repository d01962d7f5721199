// Builds a Xapian index of text files: a document for each passage of 40 lines.
//
//   search_index INDEX_DIRECTORY < LIST_OF_FILES
// Prints the terms with the number of documents each is in, for a query log to be drawn from.
#include <cctype>
#include <fstream>
#include <iostream>
#include <string>

#include <xapian.h>

int main(int argc, char **argv) {
    constexpr int kPassageLines = 40;
    constexpr size_t kShortest = 3, kLongest = 20;
    if (argc != 2)
        return 2;
    Xapian::WritableDatabase index(argv[1], Xapian::DB_CREATE_OR_OVERWRITE);
    Xapian::TermGenerator terms;
    for (std::string path; std::getline(std::cin, path);) {
        std::ifstream file(path);
        std::string passage;
        int lines = 0;
        const auto add = [&] {
            Xapian::Document document;
            document.set_data(passage);
            terms.set_document(document);
            terms.index_text(passage);
            index.add_document(document);
            passage.clear();
            lines = 0;
        };
        for (std::string line; std::getline(file, line);) {
            passage += line + '\n';
            if (++lines == kPassageLines)
                add();
        }
        if (lines)
            add();
    }
    index.commit();
    for (auto term = index.allterms_begin(); term != index.allterms_end(); ++term) {
        const std::string word = *term;
        bool plain = word.size() >= kShortest && word.size() <= kLongest;
        for (const char letter : word)
            plain = plain && std::islower(static_cast<unsigned char>(letter));
        if (plain)
            std::cout << term.get_termfreq() << ' ' << word << '\n';
    }
}
