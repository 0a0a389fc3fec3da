import type { UpdateState } from '../../services/contracts/control/desktop.ts';
import type { Clock, Log, Random } from '../../services/contracts/service.ts';

/** Used part of electron-updater. */
export interface Updater {
  autoDownload: boolean;
  autoInstallOnAppQuit: boolean;
  checkForUpdates(): Promise<{ readonly isUpdateAvailable: boolean } | null>;
  downloadUpdate(): Promise<unknown>;
}

export interface Updates extends Disposable {
  state(): UpdateState;
  check(): Promise<UpdateState>;
}

const day = 86_400_000;

/**
 * Looks for a newer version once a day, at a random time so that installations do not check simultaneously, downloads
 * it and installs it when the app quits. Never while a download is running. Without a feed, updates are not mentioned
 * anywhere.
 */
export function openUpdates(options: {
  /** Undefined without a feed. */
  readonly updater: Updater | undefined;
  readonly clock: Clock;
  readonly random: Pick<Random, 'bytes'>;
  readonly log: Log;
  /** Returns whether an update would disturb running work. */
  busy(): boolean;
  changed(): void;
}): Updates {
  const { updater, clock, log } = options;
  let state: UpdateState = updater === undefined ? 'absent' : 'idle';
  let next: Disposable | undefined;
  const turn = (to: UpdateState): UpdateState => {
    state = to;
    options.changed();
    return to;
  };

  const check = async (): Promise<UpdateState> => {
    if (updater === undefined || state === 'ready' || state === 'checking' || state === 'loading') return state;
    turn('checking');
    try {
      const result = await updater.checkForUpdates();
      if (result?.isUpdateAvailable !== true) return turn('idle');
      turn('loading');
      await updater.downloadUpdate();
      log.info('update ready, installed on quit');
      return turn('ready');
    } catch (error) {
      log.warn('update download failed', { error });
      return turn('failed');
    }
  };
  const later = (): void => {
    const [byte = 0] = options.random.bytes(1);
    next = clock.after(day * (0.5 + byte / 256), () => {
      later();
      if (!options.busy()) void check();
    });
  };
  if (updater !== undefined) {
    updater.autoDownload = false;
    updater.autoInstallOnAppQuit = true;
    later();
  }
  return { state: () => state, check, [Symbol.dispose]: () => next?.[Symbol.dispose]() };
}
