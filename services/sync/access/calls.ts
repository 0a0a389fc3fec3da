/** Names of the parameters for a location and for a path below it. */
export interface LocationParameter {
  readonly fs: string;
  readonly remote?: string;
  readonly need: 'read' | 'write';
}

/** Rule for a call that the engine executes. */
export interface CallRule {
  /** Locations that need a grant; without any, only administrators may call. */
  readonly locations?: readonly LocationParameter[];
  /** Other parameters that accounts with grants may pass. */
  readonly keys?: readonly string[];
  /** Parameters with locations that the call changes. Such calls are stored in the history and lock these locations. */
  readonly writes?: readonly string[];
  /** Parameter with the source, for the history. */
  readonly from?: string;
}

const oneLocation = (need: 'read' | 'write'): readonly LocationParameter[] => [{ fs: 'fs', remote: 'remote', need }];
const twoLocations = (src: 'read' | 'write'): readonly LocationParameter[] => [
  { fs: 'srcFs', need: src },
  { fs: 'dstFs', need: 'write' },
];
const twoFiles = (src: 'read' | 'write'): readonly LocationParameter[] => [
  { fs: 'srcFs', remote: 'srcRemote', need: src },
  { fs: 'dstFs', remote: 'dstRemote', need: 'write' },
];
const transfer = { from: 'srcFs', keys: ['createEmptySrcDirs', 'deleteEmptySrcDirs'] } as const;

/** Calls that are forwarded to the engine. */
export const calls: Readonly<Record<string, CallRule>> = {
  'sync/sync': { ...transfer, locations: twoLocations('read'), writes: ['dstFs'] },
  'sync/copy': { ...transfer, locations: twoLocations('read'), writes: ['dstFs'] },
  'sync/move': { ...transfer, locations: twoLocations('write'), writes: ['srcFs', 'dstFs'] },
  'sync/bisync': { writes: ['path1', 'path2'], from: 'path1' },
  'operations/list': { locations: oneLocation('read'), keys: ['opt'] },
  'operations/stat': { locations: oneLocation('read'), keys: ['opt'] },
  'operations/size': { locations: [{ fs: 'fs', need: 'read' }] },
  'operations/about': { locations: [{ fs: 'fs', need: 'read' }] },
  'operations/fsinfo': { locations: [{ fs: 'fs', need: 'read' }] },
  'operations/check': {
    locations: [
      { fs: 'srcFs', need: 'read' },
      { fs: 'dstFs', need: 'read' },
    ],
    keys: ['combined', 'missingOnSrc', 'missingOnDst', 'match', 'differ', 'error', 'download', 'oneWay'],
  },
  'operations/hashsum': { locations: [{ fs: 'fs', need: 'read' }], keys: ['hashType', 'download', 'base64'] },
  'operations/hashsumfile': { locations: oneLocation('read'), keys: ['hashType', 'download', 'base64'] },
  'operations/mkdir': { locations: oneLocation('write') },
  'operations/rmdir': { locations: oneLocation('write') },
  'operations/rmdirs': { locations: oneLocation('write'), keys: ['leaveRoot'] },
  'operations/purge': { locations: oneLocation('write'), writes: ['fs'] },
  'operations/delete': { locations: [{ fs: 'fs', need: 'write' }], keys: ['remote', 'rmdirs'], writes: ['fs'] },
  'operations/deletefile': { locations: oneLocation('write') },
  'operations/copyfile': { locations: twoFiles('read'), from: 'srcFs' },
  'operations/movefile': { locations: twoFiles('write'), from: 'srcFs' },
  'operations/uploadfile': { locations: oneLocation('write') },
  ...Object.fromEntries(
    [
      ...['operations/cleanup', 'operations/copyurl', 'operations/publiclink', 'operations/settier'],
      ...['operations/settierfile', 'config/create', 'config/update', 'config/password', 'config/unset', 'config/get'],
      ...['config/listremotes', 'config/dump', 'config/delete', 'config/providers', 'config/paths'],
      ...['config/oauthstatus', 'config/oauthstop', 'options/blocks', 'options/get', 'options/info', 'options/set'],
      ...['options/local', 'core/memstats', 'core/gc', 'core/obscure', 'core/bwlimit', 'core/disks', 'core/du'],
      ...[
        'core/pid',
        'core/version',
        'fscache/clear',
        'fscache/entries',
        'vfs/forget',
        'vfs/list',
        'vfs/poll-interval',
      ],
      ...['vfs/queue', 'vfs/queue-set-expiry', 'vfs/refresh', 'vfs/stats'],
    ].map((path) => [path, {}]),
  ),
};

/** Calls that every account with a grant may make, because they reveal nothing about files. */
export const callsForAll: ReadonlySet<string> = new Set(['core/version', 'core/pid']);

/** Calls of rclone that are always refused: they run programs, open servers, or end or reconfigure the engine. */
export const refusedCalls: ReadonlySet<string> = new Set([
  ...['core/command', 'core/quit', 'backend/command', 'config/setpath', 'config/unlock', 'rc/panic', 'rc/fatal'],
  ...['mount/mount', 'mount/unmount', 'mount/unmountall', 'mount/listmounts', 'mount/types', 'serve/start'],
  ...['serve/stop', 'serve/stopall', 'serve/list', 'serve/types', 'debug/set-block-profile-rate'],
  ...['debug/set-gc-percent', 'debug/set-mutex-profile-fraction', 'debug/set-soft-memory-limit'],
  ...['pluginsctl/addPlugin', 'pluginsctl/getPluginsForType', 'pluginsctl/listPlugins'],
  ...['pluginsctl/listTestPlugins', 'pluginsctl/removePlugin', 'pluginsctl/removeTestPlugin'],
]);

/** Option blocks that concern files; the others configure servers that Homeport does not run. */
export const settableBlocks: ReadonlySet<string> = new Set(['main', 'filter']);

/** Options of one call that change neither the files that are read nor the locations that are written. */
export const harmlessConfig: ReadonlySet<string> = new Set(
  [
    ...[
      'DryRun',
      'MaxDelete',
      'MaxDeleteSize',
      'CheckSum',
      'Transfers',
      'Checkers',
      'BwLimit',
      'SizeOnly',
      'IgnoreTimes',
    ],
    ...['IgnoreExisting', 'IgnoreErrors', 'IgnoreSize', 'UpdateOlder', 'TrackRenames', 'TrackRenamesStrategy'],
    ...['MaxDuration', 'MaxTransfer', 'CutoffMode', 'Retries', 'LowLevelRetries', 'ModifyWindow', 'DeleteMode'],
    ...['MaxDepth', 'NoTraverse', 'CheckFirst', 'NoCheckDest', 'NoUpdateModTime', 'NoUpdateDirModTime', 'Immutable'],
    ...['OrderBy', 'MultiThreadStreams', 'MultiThreadCutoff', 'UseListR', 'Metadata', 'Inplace', 'TPSLimit'],
  ].map(normalizeOptionName),
);
export const harmlessFilter: ReadonlySet<string> = new Set(
  [
    ...['IncludeRule', 'ExcludeRule', 'FilterRule', 'MinSize', 'MaxSize', 'MinAge', 'MaxAge', 'DeleteExcluded'],
    ...['IgnoreCase', 'ExcludeFile'],
  ].map(normalizeOptionName),
);

/** Normalizes an option name: `max_delete` equals `MaxDelete`. */
export function normalizeOptionName(name: string): string {
  return name.toLowerCase().replaceAll('_', '');
}
