#!/bin/sh
# What some tests drive and pip has not: tmux, zsh, fish, systemd-analyze, setpriv; and promtool, into the directory $1.
# promtool is only unpacked: installing Debian's package would start a server.
set -e
for tool in tmux zsh fish systemd-analyze setpriv; do
    command -v "$tool" >/dev/null || missing="$missing $tool"
done
[ -z "$missing" ] && [ -x "$1/promtool" ] && exit 0
apt-get update -qq
[ -z "$missing" ] || DEBIAN_FRONTEND=noninteractive \
    apt-get install -y -qq --no-install-recommends tmux zsh fish systemd util-linux
[ -x "$1/promtool" ] && exit 0
mkdir -p "$1/unpacked"
cd "$1/unpacked"
apt-get download -qq -o APT::Sandbox::User=root prometheus
dpkg -x prometheus_*.deb .
mv usr/bin/promtool ..
rm -rf ../unpacked
