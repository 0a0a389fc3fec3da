/** A parameter that says where, with the one that names something below it. */
export interface PlaceParameter {
  readonly fs: string;
  readonly remote?: string;
  readonly need: 'read' | 'write';
}

/** What we know of a call that the engine carries out. */
export interface CallRule {
  /** Whoever has a grant on these places may call it; without any, administrators alone. */
  readonly places?: readonly PlaceParameter[];
  /** The other parameters that such an account may give. */
  readonly keys?: readonly string[];
  /** It changes files: it stands in the history, and no other writes to the same place meanwhile. */
  readonly writes?: readonly string[];
  /** Where it takes from, for the history. */
  readonly from?: string;
}

const one = (need: 'read' | 'write'): readonly PlaceParameter[] => [{ fs: 'fs', remote: 'remote', need }];
const two = (src: 'read' | 'write'): readonly PlaceParameter[] => [
  { fs: 'srcFs', need: src },
  { fs: 'dstFs', need: 'write' },
];
const twoFiles = (src: 'read' | 'write'): readonly PlaceParameter[] => [
  { fs: 'srcFs', remote: 'srcRemote', need: src },
  { fs: 'dstFs', remote: 'dstRemote', need: 'write' },
];
const transfer = { from: 'srcFs', keys: ['createEmptySrcDirs', 'deleteEmptySrcDirs'] } as const;

/** The calls that go to the engine. */
export const calls: Readonly<Record<string, CallRule>> = {
  'sync/sync': { ...transfer, places: two('read'), writes: ['dstFs'] },
  'sync/copy': { ...transfer, places: two('read'), writes: ['dstFs'] },
  'sync/move': { ...transfer, places: two('write'), writes: ['srcFs', 'dstFs'] },
  'sync/bisync': { writes: ['path1', 'path2'], from: 'path1' },
  'operations/list': { places: one('read'), keys: ['opt'] },
  'operations/stat': { places: one('read'), keys: ['opt'] },
  'operations/size': { places: [{ fs: 'fs', need: 'read' }] },
  'operations/about': { places: [{ fs: 'fs', need: 'read' }] },
  'operations/fsinfo': { places: [{ fs: 'fs', need: 'read' }] },
  'operations/check': {
    places: [
      { fs: 'srcFs', need: 'read' },
      { fs: 'dstFs', need: 'read' },
    ],
    keys: ['combined', 'missingOnSrc', 'missingOnDst', 'match', 'differ', 'error', 'download', 'oneWay'],
  },
  'operations/hashsum': { places: [{ fs: 'fs', need: 'read' }], keys: ['hashType', 'download', 'base64'] },
  'operations/hashsumfile': { places: one('read'), keys: ['hashType', 'download', 'base64'] },
  'operations/mkdir': { places: one('write') },
  'operations/rmdir': { places: one('write') },
  'operations/rmdirs': { places: one('write'), keys: ['leaveRoot'] },
  'operations/purge': { places: one('write'), writes: ['fs'] },
  'operations/delete': { places: [{ fs: 'fs', need: 'write' }], keys: ['remote', 'rmdirs'], writes: ['fs'] },
  'operations/deletefile': { places: one('write') },
  'operations/copyfile': { places: twoFiles('read'), from: 'srcFs' },
  'operations/movefile': { places: twoFiles('write'), from: 'srcFs' },
  'operations/uploadfile': { places: one('write') },
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

/** Asked of the engine for any account that may use the service at all: they tell nothing of files. */
export const forAll: ReadonlySet<string> = new Set(['core/version', 'core/pid']);

/** What the peer has and we never do: they run programs, open servers, or end or change the engine itself. */
export const refused: ReadonlySet<string> = new Set([
  ...['core/command', 'core/quit', 'backend/command', 'config/setpath', 'config/unlock', 'rc/panic', 'rc/fatal'],
  ...['mount/mount', 'mount/unmount', 'mount/unmountall', 'mount/listmounts', 'mount/types', 'serve/start'],
  ...['serve/stop', 'serve/stopall', 'serve/list', 'serve/types', 'debug/set-block-profile-rate'],
  ...['debug/set-gc-percent', 'debug/set-mutex-profile-fraction', 'debug/set-soft-memory-limit'],
  ...['pluginsctl/addPlugin', 'pluginsctl/getPluginsForType', 'pluginsctl/listPlugins'],
  ...['pluginsctl/listTestPlugins', 'pluginsctl/removePlugin', 'pluginsctl/removeTestPlugin'],
]);

/** Groups of options that concern files; the others are about servers of the engine that we do not run. */
export const settableBlocks: ReadonlySet<string> = new Set(['main', 'filter']);

/** Options for one call that change neither what is read nor where anything is written. */
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
  ].map(plainName),
);
export const harmlessFilter: ReadonlySet<string> = new Set(
  [
    ...['IncludeRule', 'ExcludeRule', 'FilterRule', 'MinSize', 'MaxSize', 'MinAge', 'MaxAge', 'DeleteExcluded'],
    ...['IgnoreCase', 'ExcludeFile'],
  ].map(plainName),
);

/** `max_delete` and `MaxDelete` are the same. */
export function plainName(name: string): string {
  return name.toLowerCase().replaceAll('_', '');
}
