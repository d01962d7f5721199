// A search server over a Xapian index, in the spirit of TailBench's: a thread for each connection,
// a line of terms in, a line with the number of matches out.
//
//   search_server PORT INDEX_DIRECTORY
#include <arpa/inet.h>
#include <netinet/in.h>
#include <netinet/tcp.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cstdio>
#include <cstdlib>
#include <sstream>
#include <string>
#include <thread>

#include <xapian.h>

namespace {

constexpr int kBest = 10;

std::string answer(Xapian::Database &index, const std::string &line) {
    std::istringstream words(line);
    Xapian::Query query;
    for (std::string word; words >> word;)
        query = query.empty() ? Xapian::Query(word) : Xapian::Query(Xapian::Query::OP_OR, query, word);
    Xapian::Enquire enquire(index);
    enquire.set_query(query);
    const Xapian::MSet best = enquire.get_mset(0, kBest);
    size_t bytes = 0;
    for (auto match = best.begin(); match != best.end(); ++match)
        bytes += match.get_document().get_data().size();
    return std::to_string(best.get_matches_estimated()) + " " + std::to_string(bytes) + "\n";
}

void serve(int connection, const std::string &directory) {
    Xapian::Database index(directory); // not to be shared by threads
    std::string pending;
    char bytes[4096];
    for (ssize_t got; (got = recv(connection, bytes, sizeof(bytes), 0)) > 0;) {
        pending.append(bytes, static_cast<size_t>(got));
        for (size_t end; (end = pending.find('\n')) != std::string::npos;) {
            const std::string reply = answer(index, pending.substr(0, end));
            pending.erase(0, end + 1);
            if (send(connection, reply.data(), reply.size(), MSG_NOSIGNAL) < 0)
                break;
        }
    }
    close(connection);
}

} // namespace

int main(int argc, char **argv) {
    if (argc != 3) {
        std::fprintf(stderr, "search_server PORT INDEX_DIRECTORY\n");
        return 2;
    }
    prctl(PR_SET_PDEATHSIG, 9);
    const int on = 1, listener = socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, 0);
    sockaddr_in address{};
    address.sin_family = AF_INET;
    address.sin_port = htons(static_cast<uint16_t>(std::atoi(argv[1])));
    address.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    setsockopt(listener, SOL_SOCKET, SO_REUSEADDR, &on, sizeof(on));
    if (bind(listener, reinterpret_cast<sockaddr *>(&address), sizeof(address)) != 0 ||
        listen(listener, 128) != 0) {
        std::perror("search_server");
        return 1;
    }
    for (;;) {
        const int connection = accept(listener, nullptr, nullptr);
        if (connection < 0)
            continue;
        setsockopt(connection, IPPROTO_TCP, TCP_NODELAY, &on, sizeof(on));
        std::thread(serve, connection, argv[2]).detach();
    }
}
