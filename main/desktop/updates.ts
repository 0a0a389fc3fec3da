import type { UpdateState } from '../../services/contracts/control/desktop.ts';
import type { Clock, Log, Random } from '../../services/contracts/service.ts';

/** The part of electron-updater that is used. */
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
 * Looks for a newer version once a day, at a moment of its own so that not all installations ask at once, loads it and
 * leaves it to be put in place when the app is quit. Never while something is being downloaded. Without a feed there is
 * nothing to look at, and no word of updates anywhere.
 */
export function openUpdates(options: {
  /** Undefined: no feed. */
  readonly updater: Updater | undefined;
  readonly clock: Clock;
  readonly random: Pick<Random, 'bytes'>;
  readonly log: Log;
  /** Whether something would be disturbed now. */
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
      const found = await updater.checkForUpdates();
      if (found?.isUpdateAvailable !== true) return turn('idle');
      turn('loading');
      await updater.downloadUpdate();
      log.info('an update is ready; it is put in place when the app is quit');
      return turn('ready');
    } catch (error) {
      log.warn('the update could not be loaded', { error });
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
