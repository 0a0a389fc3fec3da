import { FileReply } from '../../services/contracts/api.ts';
import { serviceStatusChanged } from '../../services/contracts/control/service-status.ts';
import { Problem } from '../../services/contracts/problem.ts';
import { runInLanguage } from '../../services/kit/language.ts';
import { downloadsApi } from '../../services/contracts/downloads/api.ts';
import { popupsApi } from '../../services/contracts/popups/popups.ts';
import { DataFolderTaken } from '../host/runtime/data-lock.ts';
import type { HostOptions } from '../host/host.ts';
import type { Host } from '../host/running-host.ts';
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
export function serveHost(options: ServedHost): { stop(): void } {
  return new HostServer(options);
}

class HostServer {
  readonly #open: ServedHost['open'];
  readonly #exit: ServedHost['exit'];
  readonly #stopping = new AbortController();
  readonly #popups = remoteNotifier({
    show: (popup) => this.#notifyShell(this.#shell('show', popup)),
    close: () => this.#notifyShell(this.#shell('closePopups')),
  });
  readonly #shell: CallOptions<ShellAnswers>;
  readonly #closeConnection: () => void;
  /** Resources of the running host. */
  #resources = new AsyncDisposableStack();
  #host: Host | undefined;
  /** Settles when the current host has opened or failed. */
  #opening: Promise<void>;

  constructor({ line, open, exit }: ServedHost) {
    this.#open = open;
    this.#exit = exit;
    const { ask, close } = connectCalls<ShellAnswers>(line, this.#createAnswers());
    this.#shell = ask;
    this.#closeConnection = close;
    this.#opening = this.#start();
  }

  stop(): void {
    void this.#end();
  }

  /** Creates the handlers for calls of the shell. */
  #createAnswers(): HostAnswers {
    return {
      alive: () => undefined,
      popupEvent: ({ ticket, event }) => this.#popups.handleEvent(ticket, event),
      turn: async ({ id, on }) => void (await this.#getHost().control.changeSettings(id, { enabled: on })),
      restart: async (id) => void (await this.#getHost().control.restart(id)),
      pause: async (pausedUntil) => {
        await request(this.#getHost(), popupsApi.pausePopups, { body: { pausedUntil } });
      },
      downloadFile: async (uid) => {
        const file = await request(this.#getHost(), downloadsApi.file, { params: { uid } }).catch(() => undefined);
        return file instanceof FileReply ? file.path : null;
      },
      resumed: async () => await this.#getHost().resumed(),
      note: ({ level, message, error }) => this.#getHost().log[level](message, error === '' ? {} : { error }),
      stop: () => {
        this.stop();
        return this.#host?.stopTimeoutMs() ?? defaultStopMs;
      },
    };
  }

  #getHost(): Host {
    if (this.#host === undefined) throw new Error('The services are not open yet.');
    return this.#host;
  }

  async #end(): Promise<void> {
    if (this.#stopping.signal.aborted) return;
    this.#stopping.abort();
    await this.#opening;
    try {
      await this.#resources.disposeAsync();
      this.#closeConnection();
      this.#exit(0);
    } catch (error) {
      this.#host?.log.error('host close failed', { error });
      this.#exit(1);
    }
  }

  #notifyShell(call: Promise<unknown>): void {
    call.catch((error: unknown) => {
      // This process ends together with the shell.
      if (!(error instanceof ConnectionClosed)) this.#host?.log.warn('desktop call failed', { error });
    });
  }

  async #start(): Promise<void> {
    try {
      const keyStore = await remoteKeyStore(this.#shell);
      const { signal } = this.#stopping;
      const { notifier } = this.#popups;
      const openAddress = (address: string): void => this.#notifyShell(this.#shell('openAddress', address));
      const restartHost = (): void => this.#restart();
      this.#host = this.#resources.use(await this.#open({ notifier, openAddress, keyStore, signal, restartHost }));
      await this.#reportOpened(this.#host);
    } catch (error) {
      if (this.#stopping.signal.aborted) return;
      this.#stopping.abort();
      this.#notifyShell(this.#refuse(error).finally(() => this.#exit(1)));
    }
  }

  async #refuse(error: unknown): Promise<void> {
    const refusal = await runInLanguage(await this.#shell('language'), () => toRefusal(error));
    await this.#shell('refused', refusal);
  }

  /** Reports a host to the shell, and all its changes from then on. */
  async #reportOpened(host: Host): Promise<void> {
    this.#resources.use(
      host.bus.subscribe(serviceStatusChanged, ({ id, address }) => {
        if (id === 'control') this.#notifyShell(this.#shell('pageMoved', address));
      }),
    );
    const language = await this.#shell('language');
    const status = this.#resources.use(
      await watchStatus(host, () => {
        const change = runInLanguage(language, () => status.now());
        this.#notifyShell(change.then((now) => this.#shell('changed', now)));
      }),
    );
    const session = await host.signInWindow();
    if (session !== undefined) this.#resources.defer(() => session.end());
    const setup = (await host.setupUrl()) ?? null;
    const opened = await runInLanguage(language, () => ({
      page: host.addresses()['control'] ?? null,
      problem: host.failures()['control'] ?? '',
      setup,
      session: session?.secret ?? null,
      status: status.now(),
    }));
    await this.#shell('opened', opened);
  }

  /** Ends the host and opens the next one in this process; the shell sees another opening. */
  #restart(): void {
    this.#opening = this.#opening.then(async () => {
      if (this.#stopping.signal.aborted) return;
      const ending = this.#resources;
      const endedHost = this.#host;
      this.#resources = new AsyncDisposableStack();
      this.#host = undefined;
      await ending.disposeAsync().catch((error: unknown) => console.error('host close failed', error));
      // Remaining work would write to the restored folder; the shell starts the next process.
      if ((endedHost?.getLeftBehind() ?? []).length > 0) return this.#exit(1);
      await this.#start();
    });
  }
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
    reason: error instanceof Problem ? error.detail : error instanceof Error ? error.message : String(error),
    runningAt: error instanceof DataFolderTaken ? (error.holder?.url ?? null) : null,
  };
}
