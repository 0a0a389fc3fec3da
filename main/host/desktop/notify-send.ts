import { execFile, spawn, type ChildProcess } from 'node:child_process';
import type { Notifier, Popup, PopupEvent } from '../../../services/contracts/popups/desktop.ts';
import { escapeMarkup } from './markup.ts';

/** ms that the popup server gets to take a popup. */
const patience = 5000;
/** Popups whose buttons are still listened to; each is a waiting process. */
const mostListening = 5;
/** Popups the server has not taken yet; a server that hangs must not gather processes. */
const mostAsked = 8;

/** notify-send keeps what it prints to a pipe until its end; by the line it says at once that the popup was taken. */
const command = 'stdbuf';
const prefix = ['-oL', 'notify-send'];

/** What a child of ours needs to find the desktop, and no more. */
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
  /** ms; default 5,000. */
  readonly patience?: number;
}

/** Whether there is a notify-send that can tell clicks (libnotify 0.8 and later), and coreutils' stdbuf to hear it. */
export function notifySendHasActions(environment: NodeJS.ProcessEnv): Promise<boolean> {
  return new Promise((resolve) => {
    execFile(
      command,
      [...prefix, '--help'],
      { env: childEnvironment(environment), timeout: patience },
      (error, stdout) => resolve(error === null && /--action=/.test(stdout) && /--print-id/.test(stdout)),
    );
  });
}

/**
 * Popups through `notify-send`, whose process stays until the popup is answered or closed: it prints the popup's number
 * once the server has taken it, then the action that was chosen.
 */
export function notifySendNotifier(options: NotifySendOptions): Notifier {
  const env = childEnvironment(options.environment);
  const asked = new Set<ChildProcess>();
  const listening = new Set<ChildProcess>();

  return {
    name: 'notify-send',
    show(popup, listener) {
      if (asked.size >= mostAsked) {
        listener({ failed: 'the popup server does not answer' });
        return;
      }
      const child = spawn(command, [...prefix, ...notifySendArguments(popup)], {
        env,
        stdio: ['ignore', 'pipe', 'pipe'],
      });
      asked.add(child);
      let over = false;
      const end = (event: PopupEvent): void => {
        asked.delete(child);
        listening.delete(child);
        clearTimeout(timer);
        if (over) return;
        over = true;
        listener(event);
      };
      const timer = setTimeout(() => {
        child.kill('SIGKILL');
        end({ failed: 'the popup server does not answer' });
      }, options.patience ?? patience).unref();

      let line = '';
      let shown = false;
      const said = (text: string): void => {
        // Number 0 is that of a popup no server took.
        if (!shown && /^[1-9]\d*$/.test(text)) {
          shown = true;
          clearTimeout(timer);
          asked.delete(child);
          listening.add(child);
          const [oldest] = listening;
          // Its popup stays; only its buttons are not heard any more. SIGKILL: other signals make it close the popup.
          if (listening.size > mostListening) oldest?.kill('SIGKILL');
          listener('shown');
        } else if (shown && text === 'default') listener('clicked');
        else if (shown && popup.actions.some(({ id }) => id === text)) listener({ action: text });
      };
      child.stdout.setEncoding('utf8').on('data', (chunk: string) => {
        line = (line + chunk).slice(-4096);
        for (let end = line.indexOf('\n'); end !== -1; end = line.indexOf('\n')) {
          said(line.slice(0, end).trim());
          line = line.slice(end + 1);
        }
      });
      let complaint = '';
      child.stderr.setEncoding('utf8').on('data', (chunk: string) => (complaint = (complaint + chunk).slice(0, 300)));
      child.on('error', (error) => end({ failed: error.message }));
      child.on('close', (code) =>
        end(shown ? 'closed' : { failed: complaint.trim() || `notify-send ended with ${String(code)}` }),
      );
      // A popup that stays on the screen must not keep the process.
      child.unref();
    },
    [Symbol.asyncDispose]() {
      for (const child of [...asked, ...listening]) child.kill('SIGKILL');
      return Promise.resolve();
    },
  };
}

/** Arguments of notify-send, user text only after `--`. Title is plain text to every server; the body may be markup. */
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

/** One hint for sound, in the names of the desktop notifications specification. */
export function soundHint({ silent, urgency }: Popup): string {
  if (silent) return 'boolean:suppress-sound:true';
  return `string:sound-name:${urgency === 'critical' ? 'dialog-warning' : 'message-new-instant'}`;
}

/** notify-send reads `\n` and octal numbers in the body as C does, and the server what is left as markup. */
export function notifySendBody(body: string): string {
  return escapeMarkup(body).replaceAll('\\', '\\\\');
}

function childEnvironment(environment: NodeJS.ProcessEnv): NodeJS.ProcessEnv {
  return Object.fromEntries(Object.entries(environment).filter(([name]) => needed.has(name)));
}
