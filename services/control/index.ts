import * as m from '#messages/control-texts';
import * as texts from '#messages/manifests';
import { z } from 'zod';
import { accessChanged } from '../contracts/control/access.ts';
import { settingsChanged } from '../contracts/control/api.ts';
import { toVisibleService } from '../contracts/control/visible-service.ts';
import type { ControlContext } from '../contracts/control/host.ts';
import { engineProgressChanged, toVisibleProgress } from '../contracts/control/engine-progress.ts';
import { serviceStatusChanged } from '../contracts/control/service-status.ts';
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
  summary: texts.controlSummary,
  sharedSummary: texts.controlSharedSummary,
  listeners: [
    { name: 'http', title: 'Homeport', protocol: 'http', port: 7700, app: { ownPaths }, authenticates: true },
  ],
  capabilities: ['controlHost'],
  settings: Settings,
  environment: {},
  migrations: [],
  grantable: [{ service: 'metrics', title: texts.metricsGrant, example: '*' }],
  live: [
    liveTopic(serviceStatusChanged, toVisibleService),
    liveTopic(settingsChanged, 'admin'),
    liveTopic(accessChanged, 'user'),
    liveTopic(engineProgressChanged, toVisibleProgress),
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
        const pages = (): string => m.openPages({ count: events.size });
        const others = context.host.otherHosts();
        const detail =
          others === undefined
            ? pages
            : () => m.openPagesAndHosts({ pages: pages(), count: others.connected, over: others.over });
        return Promise.resolve({ state: 'up', detail });
      },
      [Symbol.asyncDispose]() {
        events[Symbol.dispose]();
        computerHistory[Symbol.dispose]();
        return Promise.resolve();
      },
    };
  },
});
