import { liveTopic } from '../contracts/control/live.ts';
import { mayRead } from '../contracts/route-access.ts';
import { defineManifest } from '../contracts/service.ts';
import { uptimeChanged, uptimeActivity } from '../contracts/uptime/api.ts';
import { environment, Settings } from './settings.ts';
import { migrations } from './store/migrations.ts';

/** Uptime monitor for servers, programs and containers, compatible with Uptime Kuma. */
export const manifest = defineManifest({
  id: 'uptime',
  title: 'Uptime',
  group: 'alerts',
  summary: 'Watches servers, containers and jobs. Works with clients of Uptime Kuma.',
  listeners: [
    {
      name: 'http',
      title: 'Uptime',
      protocol: 'http',
      port: 3001,
      crossOrigin: 'credentialed',
      ownMetricsPage: true,
      authenticates: true,
    },
  ],
  // Checks are made at a constant rate, so that only failed checks are informative.
  pulse: { counter: 'uptime_checks_total', labels: { result: 'down' }, what: 'failed checks' },
  settings: Settings,
  environment,
  mainSettings: ['enabled', 'certificateDays', 'notifyTag', 'notifyUrl', 'keepDays', 'publicUrl'],
  settingGroups: {
    Alerts: ['certificateDays', 'notifyTag', 'notifyUrl'],
    'History and status pages': ['keepDays', 'publicUrl'],
  },
  migrations,
  grantable: [{ service: 'uptime', title: 'Uptime', example: '*' }],
  live: [liveTopic(uptimeChanged, mayRead('uptime')), liveTopic(uptimeActivity, mayRead('uptime'))],
});
