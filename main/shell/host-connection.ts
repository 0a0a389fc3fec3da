import { join } from 'node:path';
import type { Notifier } from '../../services/contracts/popups/desktop.ts';
import type { Log } from '../../services/contracts/service.ts';
import { superviseHostProcess, type HostPhase, type HostProcess } from '../desktop/host-process.ts';
import type { OpenedHost, Refusal, ShellAnswers } from '../desktop/host-line.ts';
import { emptyStatus, type HostStatus } from '../desktop/status.ts';
import { systemClock } from '../host/runtime/clock.ts';
import { showDataLossWarning } from './dialogs.ts';
import type { ElectronApi } from './electron.ts';
import { forkHost } from './host-child.ts';
import { createErrorHandler } from './host-log.ts';
import { createKeyHandlers } from './key-wrapping.ts';
import { getSystemLanguage } from './language.ts';
import { openOutside } from './security.ts';

/** Program of the host process. */
export interface HostProgram {
  /** Folder of `assets/` and `main/shell/`. */
  readonly root: string;
  readonly hostArgv: readonly string[];
  readonly platform: NodeJS.Platform;
}

/** Handlers of events of the host process. */
export interface HostEvents {
  /** Called when the host has opened, also after each restart. */
  readonly opened: (host: OpenedHost) => void;
  /** Called when the first start failed. */
  readonly refused: (refusal: Refusal) => void;
  /** Called after the status of the services changed. */
  readonly changed: () => void;
  readonly phaseChanged: (phase: HostPhase) => void;
  /** Called when the address of the pages changed; undefined while they are not served. */
  readonly pageMoved: (base: string | undefined) => void;
}

export interface HostConnectionDependencies {
  readonly parts: Pick<ElectronApi, 'app' | 'safeStorage' | 'shell' | 'utilityProcess'>;
  readonly program: HostProgram;
  readonly notifier: Notifier;
  readonly events: HostEvents;
  /** Opens a path of the app in the window. */
  readonly open: (path: string) => void;
  readonly log: Log;
}

/** Process of the services and what it has reported last. */
export class HostConnection {
  readonly #dependencies: HostConnectionDependencies;
  #host: HostProcess | undefined;
  /** Number of the current host process: processes have no access to each other's popups. */
  #generation = 0;
  /** Base address of the app's pages. */
  #pageBase: string | undefined;
  /** Secret of the window's session, which its pages request. */
  #session: string | null = null;
  #status: HostStatus = emptyStatus;

  constructor(dependencies: HostConnectionDependencies) {
    this.#dependencies = dependencies;
  }

  /** Process of the services; undefined before the first start. */
  get host(): HostProcess | undefined {
    return this.#host;
  }

  get phase(): HostPhase {
    return this.#host?.phase() ?? 'starting';
  }

  get pageBase(): string | undefined {
    return this.#pageBase;
  }

  get session(): string | null {
    return this.#session;
  }

  get status(): HostStatus {
    return this.#status;
  }

  /** False after the process ended unexpectedly and was restarted. */
  get isFirstProcess(): boolean {
    return this.#generation === 1;
  }

  /** Starts the process and supervises it. */
  start(): HostProcess {
    const { parts, program, notifier, events } = this.#dependencies;
    const { root, hostArgv, platform } = program;
    this.#host = superviseHostProcess({
      fork: () => {
        this.#generation += 1;
        const entry = join(root, 'host', 'main-shell-host-entry.js');
        return forkHost(parts.utilityProcess, {
          entry,
          argv: [root, ...hostArgv],
          downloadsFolder: platform === 'linux' ? undefined : parts.app.getPath('downloads'),
        });
      },
      clock: systemClock,
      answers: this.#createShellAnswers(),
      opened: (host) => this.#handleOpened(host),
      refused: events.refused,
      lost: () => showDataLossWarning(notifier),
      changed: events.phaseChanged,
    });
    return this.#host;
  }

  #handleOpened(host: OpenedHost): void {
    this.#pageBase = host.page ?? undefined;
    this.#status = host.status;
    this.#session = host.session;
    this.#dependencies.events.opened(host);
  }

  /** Creates the handlers for calls of the host process. */
  #createShellAnswers(): Omit<ShellAnswers, 'opened' | 'refused'> {
    const { parts, program, notifier, events, open, log } = this.#dependencies;
    return {
      ...createKeyHandlers(parts.safeStorage, program.platform),
      language: () => getSystemLanguage(parts.app),
      changed: (status) => {
        this.#status = status;
        events.changed();
      },
      pageMoved: (base) => {
        this.#pageBase = base ?? this.#pageBase;
        events.pageMoved(base ?? undefined);
      },
      show: ({ ticket, popup }) => {
        const shownBy = this.#generation;
        notifier.show(popup, (event) => {
          // An ending host receives no more events; one that ended unexpectedly has left the messages in the inbox.
          if (shownBy === this.#generation) this.#host?.ask('popupEvent', { ticket, event }).catch(() => undefined);
          else if (event === 'clicked') open('/inbox');
        });
      },
      closePopups: async () => await notifier[Symbol.asyncDispose](),
      openAddress: (address) => {
        const base = this.#pageBase;
        if (base !== undefined && address.startsWith(`${base}/`)) open(address.slice(base.length));
        else openOutside(address, parts.shell, createErrorHandler(log, 'an address could not be opened'));
      },
    };
  }
}
