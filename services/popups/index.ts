import { join } from 'node:path';
import { implement } from '../contracts/api.ts';
import { computerResumed } from '../contracts/control/machine.ts';
import { inboxRead } from '../contracts/inbox/api.ts';
import type { DesktopContext } from '../contracts/popups/desktop.ts';
import { popupsApi, type PopupsState } from '../contracts/popups/popups.ts';
import { Problem } from '../contracts/problem.ts';
import { defineService, type Service } from '../contracts/service.ts';
import type { Health } from '../contracts/health.ts';
import { manifest } from './manifest.ts';
import { openPopups, type Popups } from './popups.ts';
import { PopupSettings, type Settings } from './settings.ts';

/** What reaches the inbox, as native popups by the person's rules. */
export const popups = defineService<typeof Settings, DesktopContext>({ ...manifest, create });

function create(context: DesktopContext, given: unknown): Service {
  const { bus, clock, log, handovers, random } = context;
  const open = new AsyncDisposableStack();
  let settings = PopupSettings.parse(given);
  let shown: Popups | undefined;

  const running = (): Popups => {
    if (shown === undefined) throw new Problem('popups.starting', 503, 'Popups are not open yet.');
    return shown;
  };

  return {
    api: [
      implement(popupsApi.popups, () => running().state()),
      implement(popupsApi.pausePopups, ({ body }) => running().pause(body.pausedUntil)),
    ],

    async start() {
      shown = open.use(
        await openPopups({
          ...{ bus, clock, log, ...context.desktop },
          file: join(context.files, 'popups.json'),
          settings: () => settings,
          markRead: (ids) => handovers.pass(inboxRead, random.text(20), { ids: [...ids] }),
        }),
      );
      open.use(bus.subscribe(computerResumed, () => shown?.renew()));
    },

    reconfigure(next) {
      settings = PopupSettings.parse(next);
      shown?.renew();
      return Promise.resolve();
    },

    health: () => Promise.resolve(healthOf(running().state())),

    [Symbol.asyncDispose]: () => open.disposeAsync(),
  };
}

function healthOf({ enabled, driver, pausedUntil, held }: PopupsState): Health {
  if (driver === 'none') return { state: 'up', idle: true, detail: 'no screen to show them on' };
  if (!enabled) return { state: 'up', idle: true, detail: 'switched off in the settings' };
  if (held > 0) return { state: 'up', detail: held === 1 ? '1 message waits' : `${String(held)} messages wait` };
  return { state: 'up', detail: pausedUntil === null ? 'showing' : 'paused' };
}
