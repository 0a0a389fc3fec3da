import type { NotificationMetadata } from 'node-notifier';
import type { Notifier, Popup, PopupEvent } from '../../../services/contracts/popups/desktop.ts';
import { notifySendBody, soundHint } from './notify-send.ts';

/** Time in ms for the popup server to accept a popup. */
const responseTimeoutMs = 5000;
/** Maximum number of pending popups; a server that hangs must not accumulate processes. */
const maxPending = 8;

type Answer = (error: Error | string | null, response?: string, metadata?: NotificationMetadata) => void;

/** Used part of node-notifier; its own types lack some options of each system. */
export interface PopupLibrary {
  notify(options: Readonly<Record<string, unknown>>, answer: Answer): unknown;
}

export interface NodeNotifierOptions {
  readonly platform: NodeJS.Platform;
  /** Default: the package, loaded when the first popup is shown. */
  readonly load?: () => Promise<PopupLibrary>;
  /** Time in ms; default 5,000. */
  readonly responseTimeoutMs?: number;
}

/** Shows popups through the package node-notifier. On Linux it reports that the server accepted one, never a click. */
export function nodeNotifier({ platform, load = loadLibrary, ...options }: NodeNotifierOptions): Notifier {
  const unix = platform !== 'darwin' && platform !== 'win32';
  let library: Promise<PopupLibrary> | undefined;
  let pending = 0;

  const ask = async (popup: Popup, listener: (event: PopupEvent) => void): Promise<void> => {
    library ??= load();
    const loaded = await library;
    let isEnded = false;
    const end = (...events: readonly PopupEvent[]): void => {
      clearTimeout(timer);
      if (!isEnded) for (const event of events) listener(event);
      isEnded = true;
    };
    const timer = setTimeout(() => {
      // macOS and Windows respond when the popup has closed; on Linux no response means that the popup was not
      // accepted.
      end(unix ? { failed: 'the popup server does not answer' } : 'shown');
    }, options.responseTimeoutMs ?? responseTimeoutMs).unref();
    loaded.notify(unix ? linuxOptions(popup) : desktopOptions(popup), (error, response, metadata) => {
      pending -= 1;
      // node-notifier passes the program's stderr output as the error, even when empty.
      if (error) end({ failed: (error instanceof Error ? error.message : error).trim().slice(0, 300) });
      else if (unix) end('shown');
      else {
        end('shown');
        listener(parseAnswer(popup, response, metadata));
      }
    });
  };

  return {
    name: 'node-notifier',
    show(popup, listener) {
      if (pending >= maxPending) {
        listener({ failed: 'the popup server does not answer' });
        return;
      }
      pending += 1;
      ask(popup, listener).catch((error: unknown) => {
        pending -= 1;
        library = undefined;
        listener({ failed: error instanceof Error ? error.message : String(error) });
      });
    },
    [Symbol.asyncDispose]: () => Promise.resolve(),
  };
}

async function loadLibrary(): Promise<PopupLibrary> {
  const { default: library } = await import('node-notifier');
  return library;
}

function linuxOptions(popup: Popup): Record<string, unknown> {
  return {
    title: notAnOption(popup.title),
    // Without a message it shows nothing.
    message: notAnOption(notifySendBody(popup.body)) || ' ',
    urgency: popup.urgency,
    'app-name': 'Homeport',
    hint: soundHint(popup),
    // Its default of ten seconds would hide an urgent popup; 0: until it is answered.
    ...(popup.urgency === 'critical' ? { timeout: 0 } : {}),
  };
}

/** node-notifier passes text where options are allowed, and does not support `--`; a leading space makes it text. */
function notAnOption(text: string): string {
  return text.startsWith('-') ? ` ${text}` : text;
}

function desktopOptions(popup: Popup): Record<string, unknown> {
  return {
    title: popup.title,
    message: popup.body || ' ',
    sound: !popup.silent,
    wait: true,
    appID: 'Homeport',
    ...(popup.actions.length === 0 ? {} : { actions: popup.actions.map(({ label }) => label) }),
  };
}

/** macOS reports an action in the metadata, Windows in the response itself, in lower case. */
function parseAnswer(popup: Popup, response = '', metadata: NotificationMetadata = {}): PopupEvent {
  const named = [response, metadata.activationValue ?? ''].map((text) => text.toLowerCase());
  const action = popup.actions.find(({ label }) => named.includes(label.toLowerCase()));
  if (action !== undefined) return { action: action.id };
  return response === 'activate' || response === 'contentsclicked' ? 'clicked' : 'closed';
}
