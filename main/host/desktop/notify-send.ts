import { execFile, spawn, type ChildProcess } from 'node:child_process';
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

/**
 * Shows popups through `notify-send`, whose process runs until the popup is answered or closed: it prints the popup's
 * number once the server has accepted it, then the selected action.
 */
export function notifySendNotifier(options: NotifySendOptions): Notifier {
  const env = childEnvironment(options.environment);
  const pending = new Set<ChildProcess>();
  const listening = new Set<ChildProcess>();

  return {
    name: 'notify-send',
    show(popup, listener) {
      if (pending.size >= maxPending) {
        listener({ failed: 'the popup server does not answer' });
        return;
      }
      const child = spawn(command, [...prefix, ...notifySendArguments(popup)], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      pending.add(child);
      let isEnded = false;
      const end = (event: PopupEvent): void => {
        pending.delete(child);
        listening.delete(child);
        clearTimeout(timer);
        if (isEnded) return;
        isEnded = true;
        listener(event);
      };
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        end({ failed: 'the popup server does not answer' });
      }, options.responseTimeoutMs ?? responseTimeoutMs).unref();

      let line = '';
      let isShown = false;
      const output = (text: string): void => {
        // Number 0 means that no server accepted the popup.
        if (!isShown && /^[1-9]\d*$/.test(text)) {
          isShown = true;
          clearTimeout(timer);
          pending.delete(child);
          listening.add(child);
          const [oldest] = listening;
          // Its popup remains, without active buttons. SIGKILL, since other signals make it close the popup.
          if (listening.size > maxListening) oldest?.kill('SIGKILL');
          listener('shown');
        } else if (isShown && text === 'default') listener('clicked');
        else if (isShown && popup.actions.some(({ id }) => id === text)) listener({ action: text });
      };
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        line = (line + chunk).slice(-4096);
        for (let end = line.indexOf('\n'); end !== -1; end = line.indexOf('\n')) {
          output(line.slice(0, end).trim());
          line = line.slice(end + 1);
        }
      });
      let complaint = '';
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => (complaint = (complaint + chunk).slice(0, 300)));
      child.on('error', (error) => end({ failed: error.message }));
      child.on('close', (code) =>
        end(isShown ? 'closed' : { failed: complaint.trim() || `notify-send ended with ${String(code)}` }),
      );
      // A visible popup must not keep the process alive.
      child.unref();
    },
    [Symbol.asyncDispose]() {
      for (const child of [...pending, ...listening]) child.kill('SIGKILL');
      return Promise.resolve();
    },
  };
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
