import { FileReply } from '../../services/contracts/api.ts';
import { serviceChanged } from '../../services/contracts/control/api.ts';
import { downloadsApi } from '../../services/contracts/downloads/api.ts';
import { popupsApi } from '../../services/contracts/popups/popups.ts';
import { DataFolderTaken } from '../host/runtime/data-lock.ts';
import type { Host, HostOptions } from '../host/host.ts';
import type { KeyStore } from '../host/kernel.ts';
import { request } from './ask.ts';
import { connectCalls, ConnectionClosed, type CallOptions, type MessageLine } from './calls.ts';
import type { HostAnswers, Refusal, ShellAnswers } from './host-line.ts';
import { remoteNotifier } from './remote-notifier.ts';
import { watchStatus } from './status.ts';

/** Desktop functions for the host. */
export type DesktopDependencies = Required<
  Pick<HostOptions, 'notifier' | 'openAddress' | 'keyStore' | 'signal' | 'restartHost'>
>;

export interface ServedHost {
  /** Connection to the shell. */
  readonly line: MessageLine;
  readonly open: (desktop: DesktopDependencies) => Promise<Host>;
  /** Ends the process. */
  readonly exit: (code: number) => void;
}

/** Used until the settings are read. */
const defaultStopMs = 10_000;

/**
 * Runs the host for a shell in another process, until the shell, or `stop`, ends it. Throws nothing: failures are
 * reported to the shell.
 */
export function serveHost({ line, open, exit }: ServedHost): { stop(): void } {
  const stopping = new AbortController();
  /** Resources of the running host. */
  let closing = new AsyncDisposableStack();
  let host: Host | undefined;

  const end = async (): Promise<void> => {
    if (stopping.signal.aborted) return;
    stopping.abort();
    await opening;
    try {
      await closing.disposeAsync();
      close();
      exit(0);
    } catch (error) {
      host?.log.error('host close failed', { error });
      exit(1);
    }
  };
  const stop = (): void => void end();
  const running = (): Host => {
    if (host === undefined) throw new Error('The services are not open yet.');
    return host;
  };

  const popups = remoteNotifier({
    show: (popup) => notifyShell(shell('show', popup)),
    close: () => notifyShell(shell('closePopups')),
  });
  const answers: HostAnswers = {
    alive: () => undefined,
    popupEvent: ({ ticket, event }) => popups.told(ticket, event),
    turn: async ({ id, on }) => void (await running().control.changeSettings(id, { enabled: on })),
    restart: async (id) => void (await running().control.restart(id)),
    async pause(pausedUntil) {
      await request(running(), popupsApi.pausePopups, { body: { pausedUntil } });
    },
    async downloadFile(uid) {
      const file = await request(running(), downloadsApi.file, { params: { uid } }).catch(() => undefined);
      return file instanceof FileReply ? file.path : null;
    },
    resumed: async () => await running().resumed(),
    note: ({ level, message, error }) => running().log[level](message, error === '' ? {} : { error }),
    stop() {
      stop();
      return host?.stopTimeoutMs() ?? defaultStopMs;
    },
  };
  const { ask: shell, close } = connectCalls<ShellAnswers>(line, answers);
  const notifyShell = (told: Promise<unknown>): void => {
    told.catch((error: unknown) => {
      // This process ends together with the shell.
      if (!(error instanceof ConnectionClosed)) host?.log.warn('desktop call failed', { error });
    });
  };

  const start = async (): Promise<void> => {
    try {
      const keyStore = await remoteKeyStore(shell);
      const { signal } = stopping;
      const { notifier } = popups;
      const openAddress = (address: string): void => notifyShell(shell('openAddress', address));
      host = closing.use(await open({ notifier, openAddress, keyStore, signal, restartHost: restartHost }));
      const opened = host;
      closing.use(
        opened.bus.subscribe(serviceChanged, ({ id, address }) => {
          if (id === 'control') notifyShell(shell('pageMoved', address));
        }),
      );
      const status = closing.use(await watchStatus(opened, () => notifyShell(shell('changed', status.now()))));
      const session = await opened.signInWindow();
      if (session !== undefined) closing.defer(() => session.end());
      await shell('opened', {
        page: opened.addresses()['control'] ?? null,
        problem: opened.failures()['control'] ?? '',
        setup: (await opened.setupUrl()) ?? null,
        session: session?.secret ?? null,
        status: status.now(),
      });
    } catch (error) {
      if (stopping.signal.aborted) return;
      stopping.abort();
      notifyShell(shell('refused', toRefusal(error)).finally(() => exit(1)));
    }
  };
  /** Ends the host and opens the next one in this process; the shell sees another opening. */
  const restartHost = (): void => {
    opening = opening.then(async () => {
      if (stopping.signal.aborted) return;
      const [ending, ended] = [closing, host];
      closing = new AsyncDisposableStack();
      host = undefined;
      await ending.disposeAsync().catch((error: unknown) => console.error('host close failed', error));
      // Remaining work would write to the restored folder; the shell starts the next process.
      if ((ended?.getLeftBehind() ?? []).length > 0) return exit(1);
      await start();
    });
  };
  let opening = start();
  return { stop };
}

/** Key store of the desktop, called over the connection for each key. */
async function remoteKeyStore(shell: CallOptions<ShellAnswers>): Promise<KeyStore> {
  let outdated = false;
  return {
    safe: await shell('keyStoreIsSafe'),
    wrapping: {
      name: 'safe-storage',
      wrap: (bytes) => shell('wrapKey', bytes),
      async unwrap(text) {
        const keyStore = await shell('unwrapKey', text);
        ({ outdated } = keyStore);
        return keyStore.bytes;
      },
      outdated: () => outdated,
    },
  };
}

function toRefusal(error: unknown): Refusal {
  return {
    reason: error instanceof Error ? error.message : String(error),
    runningAt: error instanceof DataFolderTaken ? (error.holder?.url ?? null) : null,
  };
}
