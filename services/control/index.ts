import { z } from 'zod';
import type { ControlContext } from '../contracts/control/api.ts';
import { defineService, type Service } from '../contracts/service.ts';
import { LiveEvents, liveLimits } from './events.ts';
import { controlListener } from './http.ts';
import { controlRoutes } from './routes.ts';

const Settings = z.object({});

/** The app's own API, its live events, its metrics page and its pages. */
export const control = defineService<typeof Settings, ControlContext>({
  id: 'control',
  title: 'Pages and API',
  summary: 'The app itself: its pages, its API and its metrics.',
  port: 7700,
  protocol: 'http',
  crossOrigin: 'refuse',
  controlsHost: true,
  settings: Settings,
  environment: {},
  migrations: [],
  create(context): Service {
    const events = new LiveEvents(context, liveLimits);
    return {
      http: controlListener(context, events),
      api: controlRoutes(context, events),
      start() {
        events.start();
        return Promise.resolve();
      },
      health() {
        const pages = events.size === 1 ? '1 page open' : `${String(events.size)} pages open`;
        return Promise.resolve({ state: 'up', detail: events.size === 0 ? 'no page open' : pages });
      },
      [Symbol.asyncDispose]() {
        events[Symbol.dispose]();
        return Promise.resolve();
      },
    };
  },
});
