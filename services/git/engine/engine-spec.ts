import * as m from '#messages/engine-texts';
import type { ArchiveFile, EngineSpec } from '../../contracts/control/engine-spec.ts';

const version = '2.56.0';
const releases = `https://github.com/git-for-windows/git/releases/download/v${version}.windows.1`;

/** Git without an installer. The project states the sums in the notes of the release. */
function getMinGit(system: string, sha256: string): readonly ArchiveFile[] {
  return [{ address: `${releases}/MinGit-${version}-${system}.zip`, checksum: { sha256 } }];
}

/** Git itself, which stores the repositories. */
export const gitEngine: EngineSpec = {
  name: 'git',
  title: 'Git',
  purpose: m.gitPurpose,
  absence: m.gitAbsence,
  removal: m.gitRemoval,
  // Older versions do not support `merge-tree --write-tree`.
  version: { arguments: ['--version'], pattern: /^git version (\d+\.\d+\S*)/, oldest: '2.38' },
  location: { win32: 'cmd/git.exe' },
  sources: [
    {
      from: 'archive',
      version,
      files: {
        'win32-x64': getMinGit('64-bit', '064b440ff870ed5198527e8f3a92cdf5bd2fd0fedf5e718af95e3fdaddeff718'),
        'win32-arm64': getMinGit('arm64', 'cb3b0f2d486ea52673227151a5baf5bc13861ff80e74e94e46d614d1bfcd5c06'),
      },
    },
    {
      from: 'system',
      packages: ['git'],
      winget: 'Git.Git',
      macos: {
        command: 'xcode-select --install',
        advice: m.gitMacosAdvice,
      },
    },
  ],
};
