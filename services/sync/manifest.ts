import * as m from '#messages/sync-settings';
import * as parts from '#messages/parts';
import * as texts from '#messages/manifests';
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
  title: texts.syncTitle,
  group: 'data',
  summary: texts.syncSummary,
  sharedSummary: texts.syncSharedSummary,
  listeners: [
    { name: 'http', title: texts.syncTitle, protocol: 'http', port: 5572, crossOrigin: 'refuse', authenticates: true },
  ],
  grantable: [{ service: 'sync', title: texts.syncGrant, example: `${getPathExamples(currentPlatform).photos}/*` }],
  pulse: { counter: 'sync_transferred_files_total', total: parts.filesInDay },
  settings: Settings,
  mainSettings: ['enabled', 'bandwidth', 'maxDeletes', 'maxDeletePercent', 'keepReplacedDays', 'keepDays'],
  settingGroups: [
    { heading: m.groupSpeed, settings: ['bandwidth'] },
    { heading: m.groupDeletionProtection, settings: ['maxDeletes', 'maxDeletePercent'] },
    { heading: m.groupHistory, settings: ['keepReplacedDays', 'keepDays'] },
  ],
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
