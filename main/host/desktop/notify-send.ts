import { execFile, spawn, type ChildProcess } from 'node:child_process';
import type { Readable } from 'node:stream';
import type { Notifier, Popup, PopupEvent } from '../../../services/contracts/popups/desktop.ts';
import { escapeMarkup } from './markup.ts';

/** Time in ms for the popup server to accept a popup. */
const responseTimeoutMs = 5000;
/** Maximum number of popups with active buttons; each is a waiting process. */
const maxListening = 5;
/** Maximum number of popups that the server has not accepted yet; a server that hangs must not accumulate processes. */
const maxPending = 8;

/** notify-send buffers output to a pipe until its end; line buffering reports the acceptance immediately. */
const command = 'stdbuf';
const prefix = ['-oL', 'notify-send'];

/** Variables that a child process needs to find the desktop. */
const needed = new Set([
  'PATH',
  'HOME',
  'LANG',
  'DISPLAY',
  'WAYLAND_DISPLAY',
  'DBUS_SESSION_BUS_ADDRESS',
  'XDG_RUNTIME_DIR',
]);

export interface NotifySendOptions {
  readonly environment: NodeJS.ProcessEnv;
  /** Time in ms; default 5,000. */
  readonly responseTimeoutMs?: number;
}

/**
 * Returns whether there is a notify-send that reports clicks (libnotify 0.8 and later), and coreutils' stdbuf to read
 * its output.
 */
export function notifySendHasActions(environment: NodeJS.ProcessEnv): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(
      command,
      [...prefix, '--help'],
      { env: childEnvironment(environment), timeout: responseTimeoutMs },
      (error, stdout) => resolve(error === null && /--action=/.test(stdout) && /--print-id/.test(stdout)),
    );
  });
}

/** Creates a notifier that uses `notify-send`. */
export function notifySendNotifier(options: NotifySendOptions): Notifier {
  return new NotifySendNotifier(options);
}

type ListenForEvent = Parameters<Notifier['show']>[1];

/**
 * Shows popups through `notify-send`, whose process runs until the popup is answered or closed: it prints the popup's
 * number once the server has accepted it, then the selected action.
 */
class NotifySendNotifier implements Notifier {
  readonly name = 'notify-send';
  readonly #environment: NodeJS.ProcessEnv;
  readonly #responseTimeoutMs: number;
  readonly #pending = new Set<ChildProcess>();
  readonly #listening = new Set<ChildProcess>();

  constructor(options: NotifySendOptions) {
    this.#environment = childEnvironment(options.environment);
    this.#responseTimeoutMs = options.responseTimeoutMs ?? responseTimeoutMs;
  }

  show(popup: Popup, listener: ListenForEvent): void {
    if (this.#pending.size >= maxPending) {
      listener({ failed: 'the popup server does not answer' });
      return;
    }
    const child = spawn(command, [...prefix, ...notifySendArguments(popup)], {
      env: this.#environment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    this.#pending.add(child);
    let isEnded = false;
    const end = (event: PopupEvent): void => {
      this.#pending.delete(child);
      this.#listening.delete(child);
      clearTimeout(timer);
      if (isEnded) return;
      isEnded = true;
      listener(event);
    };
    const timer = setTimeout(() => {
      child.kill('SIGKILL');
      end({ failed: 'the popup server does not answer' });
    }, this.#responseTimeoutMs).unref();
    let isShown = false;
    onLine(child.stdout, (line) => {
      // Number 0 means that no server accepted the popup.
      if (!isShown && /^[1-9]\d*$/.test(line)) {
        isShown = true;
        clearTimeout(timer);
        this.#listenTo(child);
        listener('shown');
      } else if (isShown && line === 'default') listener('clicked');
      else if (isShown && popup.actions.some(({ id }) => id === line)) listener({ action: line });
    });
    let errorOutput = '';
    child.stderr.setEncoding('utf8').on('data', (chunk: string) => (errorOutput = (errorOutput + chunk).slice(0, 300)));
    child.on('error', (error) => end({ failed: error.message }));
    child.on('close', (code) =>
      end(isShown ? 'closed' : { failed: errorOutput.trim() || `notify-send ended with ${String(code)}` }),
    );
    // A visible popup must not keep the process alive.
    child.unref();
  }

  [Symbol.asyncDispose](): Promise<void> {
    for (const child of [...this.#pending, ...this.#listening]) child.kill('SIGKILL');
    return Promise.resolve();
  }

  /** Waits for the actions of a popup that the server has accepted. */
  #listenTo(child: ChildProcess): void {
    this.#pending.delete(child);
    this.#listening.add(child);
    const [oldest] = this.#listening;
    // Its popup remains, without active buttons. SIGKILL, since other signals make it close the popup.
    if (this.#listening.size > maxListening) oldest?.kill('SIGKILL');
  }
}

function onLine(output: Readable, call: (line: string) => void): void {
  let rest = '';
  output.setEncoding('utf8').on('data', (chunk: string) => {
    rest = (rest + chunk).slice(-4096);
    for (let end = rest.indexOf('\n'); end !== -1; end = rest.indexOf('\n')) {
      call(rest.slice(0, end).trim());
      rest = rest.slice(end + 1);
    }
  });
}

/**
 * Builds the arguments of notify-send, user text only after `--`. All servers treat the title as plain text; the body
 * may be markup.
 */
function notifySendArguments(popup: Popup): string[] {
  return [
    '--print-id',
    '--app-name=Homeport',
    `--urgency=${popup.urgency}`,
    `--hint=${soundHint(popup)}`,
    '--action=default=Open',
    ...popup.actions.map(({ id, label }) => `--action=${id}=${label}`),
    '--',
    popup.title,
    notifySendBody(popup.body),
  ];
}

/** Returns the sound hint of the desktop notifications specification. */
export function soundHint({ silent, urgency }: Popup): string {
  if (silent) return 'boolean:suppress-sound:true';
  return `string:sound-name:${urgency === 'critical' ? 'dialog-warning' : 'message-new-instant'}`;
}

/** notify-send interprets `\n` and octal numbers in the body like C, and the server parses the rest as markup. */
export function notifySendBody(body: string): string {
  return escapeMarkup(body).replaceAll('\\', '\\\\');
}

function childEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => needed.has(name)));
}
