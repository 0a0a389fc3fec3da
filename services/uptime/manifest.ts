import * as m from '#messages/uptime-settings';
import * as parts from '#messages/parts';
import * as texts from '#messages/manifests';
import { liveTopic } from '../contracts/control/live.ts';
import { mayRead } from '../contracts/route-access.ts';
import { defineManifest } from '../contracts/service.ts';
import { uptimeChanged, uptimeActivity } from '../contracts/uptime/api.ts';
import { environment, Settings } from './settings.ts';
import { migrations } from './store/migrations.ts';

/** Uptime monitor for servers, programs and containers, compatible with Uptime Kuma. */
export const manifest = defineManifest({
  id: 'uptime',
  title: texts.uptimeTitle,
  group: 'alerts',
  summary: texts.uptimeSummary,
  sharedSummary: texts.uptimeSharedSummary,
  listeners: [
    {
      name: 'http',
      title: texts.uptimeTitle,
      protocol: 'http',
      port: 3001,
      crossOrigin: 'credentialed',
      ownMetricsPage: true,
      authenticates: true,
    },
  ],
  // Checks are made at a constant rate, so that only failed checks are informative.
  pulse: { counter: 'uptime_checks_total', labels: { result: 'down' }, total: parts.failedChecksInDay },
  settings: Settings,
  environment,
  mainSettings: ['enabled', 'certificateDays', 'notifyTag', 'notifyUrl', 'keepDays', 'publicUrl'],
  settingGroups: [
    { heading: m.groupAlerts, settings: ['certificateDays', 'notifyTag', 'notifyUrl'] },
    { heading: m.groupHistoryAndStatusPages, settings: ['keepDays', 'publicUrl'] },
  ],
  migrations,
  grantable: [{ service: 'uptime', title: texts.uptimeTitle, example: '*' }],
  live: [liveTopic(uptimeChanged, mayRead('uptime')), liveTopic(uptimeActivity, mayRead('uptime'))],
});
