import { liveTopic } from '../contracts/control/live.ts';
import { mayRead } from '../contracts/route-access.ts';
import { defineManifest } from '../contracts/service.ts';
import { uptimeChanged, uptimeActivity } from '../contracts/uptime/api.ts';
import { environment, Settings } from './settings.ts';
import { migrations } from './store/migrations.ts';

/** The uptime monitor: checks servers, programs and containers, and says so before it is too late. Answers like Uptime Kuma. */
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
  // As many checks are made in each hour: what went wrong is what a day tells.
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
