#!/bin/sh
# A Debian package in dist/: a virtual environment of the system's python3 in /opt/smartharvest, with everything it
# needs inside; the unit, manual pages and completions where Debian looks for them. $1: a python with pip and click-man.
set -e
python=$(command -v "$1")
root=build/deb
home=$root/opt/smartharvest
rm -rf "$root"
mkdir -p "$root/opt" "$root/DEBIAN" "$root/usr/bin" "$root/lib/systemd/system" "$root/usr/share/man/man1" dist
/usr/bin/python3 -m venv --without-pip "$home"
"$python" -m pip --python "$home/bin/python" install --quiet --no-compile --disable-pip-version-check '.[top,metrics,web]'
find "$home/bin" -type f ! -name smartharvest -delete
# Isolated: no PYTHONPATH that sudo let through, no packages of the caller's own.
sed -i '1s|.*|#!/opt/smartharvest/bin/python -I|' "$home/bin/smartharvest"
ln -s /opt/smartharvest/bin/smartharvest "$root/usr/bin/smartharvest"

smartharvest="$home/bin/python -I -m smartharvest" # not the one in this directory
install -D -m 644 -t "$root/lib/systemd/system" packaging/smartharvest.service packaging/smartharvest-restore.service
for place in bash:bash-completion/completions/smartharvest zsh:zsh/vendor-completions/_smartharvest \
    fish:fish/vendor_completions.d/smartharvest.fish; do
    file=$root/usr/share/${place#*:}
    mkdir -p "$(dirname "$file")"
    $smartharvest completion "${place%%:*}" >"$file"
done
"$python" docs/man.py "$root/usr/share/man/man1"
mkdir -p "$root/usr/share/man/man5"
mv "$root"/usr/share/man/man1/*.5 "$root/usr/share/man/man5/"
gzip -9n "$root"/usr/share/man/man[15]/*
mkdir -p "$root/usr/share/doc/smartharvest/examples"
$smartharvest config example >"$root/usr/share/doc/smartharvest/examples/smartharvest.toml"
cp -r packaging/grafana packaging/prometheus "$root/usr/share/doc/smartharvest/examples/"
cp LICENSE "$root/usr/share/doc/smartharvest/copyright"
gzip -9nc CHANGELOG.md >"$root/usr/share/doc/smartharvest/changelog.gz"

version=$($smartharvest --version | sed 's/.* //')
minor=$(/usr/bin/python3 -c 'import sys; print("3.%d" % sys.version_info[1])')
architecture=$(dpkg --print-architecture)
find "$root" -name __pycache__ -type d -prune -exec rm -r {} +
cat >"$root/DEBIAN/control" <<END
Package: smartharvest
Version: $version
Architecture: $architecture
Maintainer: SmartHarvest maintainers <maintainers@smartharvest.invalid>
Section: admin
Priority: optional
Depends: python3 (>= $minor), python3 (<< 3.$((${minor#3.} + 1))), libc6
Installed-Size: $(du -sk --exclude=DEBIAN "$root" | cut -f1)
Description: lends a service's idle cores to a batch group
 Watches how many of its cores a latency-sensitive service uses, predicts the
 next peak and lends the others to a batch control group, to be taken back
 before the service notices. Nothing runs until /etc/smartharvest.toml is
 written and the service is enabled.
END
install -m 755 -t "$root/DEBIAN" packaging/debian/*
dpkg-deb -Zgzip --root-owner-group --build "$root" "dist/smartharvest_${version}_$architecture.deb"
