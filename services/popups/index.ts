import { settingsChanged } from '../contracts/control/api.ts';
import { keepLanguage } from '../kit/language.ts';
import * as texts from '#messages/popups-texts';
import * as m from '#messages/control-problems';
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

/** Popups service: shows messages of the inbox as native popups, following the rules of an account. */
export const popups = defineService<typeof Settings, DesktopContext>({ ...manifest, create });

function create(context: DesktopContext, initialSettings: unknown): Service {
  const { bus, clock, log, handovers, random } = context;
  const resources = new AsyncDisposableStack();
  let settings = PopupSettings.parse(initialSettings);
  let running: Popups | undefined;
  let inHostLanguage = keepLanguage();
  /** Reads the language of the host and loads its texts, so that popups are built without waiting. */
  const readLanguage = async (): Promise<void> => {
    inHostLanguage = await context.inHostLanguage(() => keepLanguage());
  };

  const requireRunning = (): Popups => {
    if (running === undefined) throw new Problem('popups.starting', 503, m.popupsStarting);
    return running;
  };

  return {
    api: [
      implement(popupsApi.popups, () => requireRunning().state()),
      implement(popupsApi.pausePopups, ({ body }) => requireRunning().pause(body.pausedUntil)),
    ],

    async start() {
      const { notifier, openPage, openLink } = context.desktop;
      await readLanguage();
      resources.use(
        bus.subscribe(settingsChanged, () => {
          readLanguage().catch((error: unknown) => log.error('language of popups not loaded', { error }));
        }),
      );
      running = resources.use(
        await openPopups({
          bus,
          clock,
          log,
          notifier,
          file: join(context.files, 'popups.json'),
          settings: () => settings,
          actions: {
            inHostLanguage: (work) => inHostLanguage(work),
            openPage,
            openLink,
            markRead: (ids) => handovers.pass(inboxRead, random.text(20), { ids: [...ids] }),
          },
        }),
      );
      resources.use(bus.subscribe(computerResumed, () => running?.refresh()));
    },

    reconfigure(next) {
      settings = PopupSettings.parse(next);
      running?.refresh();
      return Promise.resolve();
    },

    health: () => Promise.resolve(getHealth(requireRunning().state())),

    [Symbol.asyncDispose]: () => resources.disposeAsync(),
  };
}

function getHealth({ enabled, driver, pausedUntil, held }: PopupsState): Health {
  if (driver === 'none') return { state: 'up', idle: true, detail: texts.noScreen };
  if (!enabled) return { state: 'up', idle: true, detail: texts.disabled };
  if (held > 0) return { state: 'up', detail: () => texts.held({ count: held }) };
  return { state: 'up', detail: pausedUntil === null ? texts.showing : texts.paused };
}
