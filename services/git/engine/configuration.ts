import { currentPlatform } from '../../kit/platform/current-platform.ts';
import { hasWindowsPaths } from '../../kit/platform/file-systems.ts';

/** Malformed objects that occur in the history of many projects. */
const toleratedFsckMessages = [
  'badTimezone',
  'missingSpaceBeforeDate',
  'multipleAuthors',
  'zeroPaddedFilemode',
  'missingNameBeforeEmail',
  'missingEmail',
  'zeroPaddedDate',
  'gitmodulesParse',
  'missingTaggerEntry',
];

/**
 * Git for Windows names the certificates that it trusts in its system configuration, which is not read. With this
 * setting it uses those of Windows.
 */
const windowsSettings = ['[http]', '\tsslBackend = schannel'];

/**
 * Builds git's global configuration as lines of its file. Repositories add only the configuration that this service
 * writes.
 */
export function buildConfiguration(hooks: string, platform: NodeJS.Platform = currentPlatform): readonly string[] {
  return [
    '[core]',
    `\thooksPath = ${JSON.stringify(hooks)}`,
    '\tlogAllRefUpdates = false',
    '\tfsyncMethod = fsync',
    '\tfsync = committed,reference',
    '\tquotePath = false',
    '\tlongPaths = true',
    // Reject names that some file systems treat as `.git`, because repositories are cloned to every platform.
    '\tprotectHFS = true',
    '\tprotectNTFS = true',
    // Larger files are streamed instead of held in memory.
    '\tbigFileThreshold = 64m',
    '[safe]',
    '\tdirectory = *',
    '[init]',
    '\tdefaultBranch = main',
    '[gc]',
    '\tauto = 0',
    '[maintenance]',
    '\tauto = false',
    '[uploadpack]',
    '\tallowFilter = true',
    '\tallowAnySHA1InWant = true',
    '[receive]',
    '\tadvertisePushOptions = true',
    '\tfsckObjects = true',
    '\tautogc = false',
    '\thideRefs = refs/pull',
    '\tdenyCurrentBranch = ignore',
    '\tdenyDeleteCurrent = ignore',
    // The same objects are accepted by pushes, migrations and restored backups.
    ...['[receive "fsck"]', '[fetch "fsck"]', '[fsck]'].flatMap((section) => [
      section,
      ...toleratedFsckMessages.map((id) => `\t${id} = warn`),
    ]),
    '[protocol]',
    '\tversion = 2',
    ...(hasWindowsPaths(platform) ? windowsSettings : []),
  ];
}
