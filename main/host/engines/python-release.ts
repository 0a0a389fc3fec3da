import * as m from '#messages/engine-texts';
import type { EngineSpec, InstallTarget } from '../../../services/contracts/control/engine-spec.ts';

const version = '3.13.16';
const release = '20261001';
const address = `https://github.com/astral-sh/python-build-standalone/releases/download/${release}`;

/** Systems in the spelling of the compiler, as the publisher names its files. */
const systems: Readonly<Record<InstallTarget, string>> = {
  'linux-x64': 'x86_64-unknown-linux-gnu',
  'linux-arm64': 'aarch64-unknown-linux-gnu',
  'darwin-x64': 'x86_64-apple-darwin',
  'darwin-arm64': 'aarch64-apple-darwin',
  'win32-x64': 'x86_64-pc-windows-msvc',
  'win32-arm64': 'aarch64-pc-windows-msvc',
};

/** Python with pip that Homeport installs for its own use on a computer without one. */
export const pythonRelease = {
  name: 'python',
  title: 'Python',
  purpose: m.pythonPurpose,
  absence: m.pythonAbsence,
  removal: m.pythonRemoval,
  version: { arguments: ['--version'], pattern: /^Python (\S+)/ },
  location: { linux: 'python/bin/python3', darwin: 'python/bin/python3', win32: 'python/python.exe' },
  sources: [
    {
      from: 'archive',
      version,
      files: Object.fromEntries(
        Object.entries(systems).map(([target, system]) => [
          target,
          [
            {
              address: `${address}/cpython-${version}%2B${release}-${system}-install_only_stripped.tar.gz`,
              checksum: { list: `${address}/SHA256SUMS` },
            },
          ],
        ]),
      ),
    },
  ],
} as const satisfies EngineSpec;
