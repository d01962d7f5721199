#!/bin/sh
# An OCI image smartharvest:VERSION with the newest wheel in dist/, by buildah. $1: a python with pip. Its base is $BASE, or where
# that cannot be fetched a root file system that debootstrap makes (root). The build itself needs no network.
set -e
base=${BASE:-docker.io/library/debian:bookworm-slim}
if ! buildah inspect --type image "$base" >/dev/null 2>&1 && ! buildah pull --quiet "$base" >/dev/null 2>&1; then
    base=localhost/smartharvest-base
    if ! buildah inspect --type image "$base" >/dev/null 2>&1; then
        echo "the base image cannot be fetched: debootstrap makes one" >&2
        rm -rf build/rootfs
        debootstrap --variant=minbase --include=python3,python3-venv bookworm build/rootfs \
            "$("$1" -c 'from tests.debian import mirror; print(mirror())')" >build/rootfs.log 2>&1 ||
            { tail -n 5 build/rootfs.log >&2; exit 1; }
        rm -rf build/rootfs/var/cache/apt/archives/*.deb build/rootfs/var/lib/apt/lists/*
        container=$(buildah from scratch)
        buildah add --quiet "$container" build/rootfs / >/dev/null
        buildah commit --quiet --rm "$container" "$base" >/dev/null
        rm -rf build/rootfs
    fi
fi
rm -rf build/image
mkdir -p build/image
wheel=$(ls -t dist/smartharvest-*-cp311-*.whl | head -n 1)
version=$(echo "${wheel#dist/smartharvest-}" | sed 's/-.*//; s/+/-/g')
# Debian 12 has Python 3.11.
"$1" -m pip download --quiet --disable-pip-version-check --only-binary :all: --python-version 3.11 --dest build/image "$wheel[top,metrics,web]"
buildah bud --build-arg BASE="$base" --build-arg VERSION="$version" \
    --file packaging/Containerfile --tag smartharvest --tag "smartharvest:$version" .
