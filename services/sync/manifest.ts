import { currentPlatform } from '../kit/platform/current-platform.ts';
import { liveTopic } from '../contracts/control/live.ts';
import { getPathExamples } from '../contracts/path-examples.ts';
import { defineManifest } from '../contracts/service.ts';
import { syncChanged } from '../contracts/sync/api.ts';
import { rclone } from './engine/engine-spec.ts';
import { loadOnDemand } from './load-on-demand.ts';
import { environment, Settings } from './settings.ts';
import { migrations } from './store/migrations.ts';

/** File sync: rclone's remote control with history, delete limits and schedules. */
export const manifest = defineManifest({
  id: 'sync',
  title: 'Sync',
  group: 'data',
  summary: 'Copies and syncs folders, servers and cloud storage. Works with clients of rclone.',
  listeners: [
    { name: 'http', title: 'Sync', protocol: 'http', port: 5572, crossOrigin: 'refuse', authenticates: true },
  ],
  grantable: [
    { service: 'sync', title: 'Folders and remotes to sync', example: `${getPathExamples(currentPlatform).photos}/*` },
  ],
  pulse: { counter: 'sync_transferred_files_total', what: 'files' },
  settings: Settings,
  mainSettings: ['enabled', 'bandwidth', 'maxDeletes', 'maxDeletePercent', 'keepReplacedDays', 'keepDays'],
  settingGroups: {
    Speed: ['bandwidth'],
    'Deletion protection': ['maxDeletes', 'maxDeletePercent'],
    History: ['keepReplacedDays', 'keepDays'],
  },
  environment,
  migrations,
  loadOnDemand,
  keys: {
    table: 'keepsakes',
    rows: { remotes: 'sync.engine-configuration' },
    files: { remotes: ['rclone.conf'] },
  },
  engines: [rclone],
  live: [liveTopic(syncChanged, 'user')],
});
