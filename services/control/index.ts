import { z } from 'zod';
import { accessChanged } from '../contracts/control/access.ts';
import { serviceChanged, settingsChanged } from '../contracts/control/api.ts';
import { toVisibleService } from '../contracts/control/visible-service.ts';
import type { ControlContext } from '../contracts/control/host.ts';
import { engineProgress } from '../contracts/control/engines.ts';
import { liveTopic } from '../contracts/control/live.ts';
import { defineService, type Service } from '../contracts/service.ts';
import { LiveEvents, liveLimits } from './events.ts';
import { controlListener, ownPaths } from './http.ts';
import { ComputerHistory } from './computer-history.ts';
import { controlRoutes } from './routes.ts';

const Settings = z.object({});

/** Homeport's API, live events, metrics and pages. */
export const control = defineService<typeof Settings, ControlContext>({
  id: 'control',
  title: 'Homeport',
  group: 'system',
  summary: 'The app itself: its pages, its API and its metrics.',
  listeners: [
    { name: 'http', title: 'Homeport', protocol: 'http', port: 7700, app: { ownPaths }, authenticates: true },
  ],
  capabilities: ['controlHost'],
  settings: Settings,
  environment: {},
  migrations: [],
  grantable: [{ service: 'metrics', title: 'Metrics', example: '*' }],
  live: [
    liveTopic(serviceChanged, toVisibleService),
    liveTopic(settingsChanged, 'admin'),
    liveTopic(accessChanged, 'user'),
    liveTopic(engineProgress, 'admin'),
  ],
  create(context): Service {
    const events = new LiveEvents(context, context.host.liveTopics, liveLimits);
    const computerHistory = new ComputerHistory(context);
    return {
      http: controlListener(context, events),
      api: [...controlRoutes(context, events), ...computerHistory.routes()],
      start() {
        events.start();
        computerHistory.start();
        return Promise.resolve();
      },
      health() {
        const pages = events.size === 1 ? '1 page open' : `${String(events.size)} pages open`;
        return Promise.resolve({ state: 'up', detail: events.size === 0 ? 'no page open' : pages });
      },
      [Symbol.asyncDispose]() {
        events[Symbol.dispose]();
        computerHistory[Symbol.dispose]();
        return Promise.resolve();
      },
    };
  },
});
