import { existsSync } from 'node:fs';
import { join } from 'node:path';
import type { Log } from '../../../services/contracts/service.ts';
import type { Notifier } from '../../../services/contracts/popups/desktop.ts';

export interface DesktopNotifierOptions {
  readonly environment: NodeJS.ProcessEnv;
  readonly platform: NodeJS.Platform;
  readonly log: Log;
}

/**
 * Creates the notifier of a host without a window: notify-send where it reports clicks, else node-notifier; none
 * without a desktop. Nothing is loaded or started before the first popup.
 */
export function desktopNotifier(options: DesktopNotifierOptions): Notifier {
  if (!hasDesktop(options.environment, options.platform)) {
    options.log.debug('popups disabled: no desktop available');
    return { name: 'none', show: (_, listener) => listener('closed'), [Symbol.asyncDispose]: () => Promise.resolve() };
  }
  let selected: Promise<Notifier> | undefined;
  let name = 'node-notifier';
  return {
    get name() {
      return name;
    },
    show(popup, listener) {
      selected ??= selectNotifier(options);
      selected
        .then((notifier) => {
          ({ name } = notifier);
          notifier.show(popup, listener);
        })
        .catch((error: unknown) => listener({ failed: error instanceof Error ? error.message : String(error) }));
    },
    async [Symbol.asyncDispose]() {
      // The caller of `show` has already received the error.
      await (await selected?.catch(() => undefined))?.[Symbol.asyncDispose]();
    },
  };
}

async function selectNotifier({ environment, platform }: DesktopNotifierOptions): Promise<Notifier> {
  if (platform !== 'darwin' && platform !== 'win32') {
    const { notifySendHasActions, notifySendNotifier } = await import('./notify-send.ts');
    if (await notifySendHasActions(environment)) return notifySendNotifier({ environment });
  }
  const { nodeNotifier } = await import('./node-notifier.ts');
  return nodeNotifier({ platform });
}

/** On Linux popups require a display and the session bus; a server over SSH has neither. */
function hasDesktop(environment: NodeJS.ProcessEnv, platform: NodeJS.Platform): boolean {
  if (platform === 'darwin' || platform === 'win32') return true;
  const runtime = environment['XDG_RUNTIME_DIR'];
  const bus = environment['DBUS_SESSION_BUS_ADDRESS'] || (runtime && existsSync(join(runtime, 'bus')));
  return Boolean(bus && (environment['DISPLAY'] || environment['WAYLAND_DISPLAY']));
}
