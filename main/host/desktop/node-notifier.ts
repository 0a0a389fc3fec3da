import type { NotificationMetadata } from 'node-notifier';
import type { Notifier, Popup, PopupEvent } from '../../../services/contracts/popups/desktop.ts';
import { notifySendBody, soundHint } from './notify-send.ts';

/** ms that the popup server gets to take a popup. */
const patience = 5000;
/** Popups without an answer; a server that hangs must not gather processes. */
const mostAsked = 8;

type Answer = (error: Error | string | null, response?: string, metadata?: NotificationMetadata) => void;

/** The part of node-notifier that is used; its own types know only some of each system's options. */
export interface PopupLibrary {
  notify(options: Readonly<Record<string, unknown>>, answer: Answer): unknown;
}

export interface NodeNotifierOptions {
  readonly platform: NodeJS.Platform;
  /** Default: the package, loaded when the first popup is shown. */
  readonly load?: () => Promise<PopupLibrary>;
  /** ms; default 5,000. */
  readonly patience?: number;
}

/** Popups through the package node-notifier. On Linux it tells when the server took one, never a click. */
export function nodeNotifier({ platform, load = loadLibrary, ...options }: NodeNotifierOptions): Notifier {
  const unix = platform !== 'darwin' && platform !== 'win32';
  let library: Promise<PopupLibrary> | undefined;
  let asked = 0;

  const ask = async (popup: Popup, listener: (event: PopupEvent) => void): Promise<void> => {
    library ??= load();
    const loaded = await library;
    let over = false;
    const end = (...events: readonly PopupEvent[]): void => {
      clearTimeout(timer);
      if (!over) for (const event of events) listener(event);
      over = true;
    };
    const timer = setTimeout(() => {
      // macOS and Windows answer when the popup is gone; on Linux silence means that nobody took it.
      end(unix ? { failed: 'the popup server does not answer' } : 'shown');
    }, options.patience ?? patience).unref();
    loaded.notify(unix ? linuxOptions(popup) : desktopOptions(popup), (error, response, metadata) => {
      asked -= 1;
      // node-notifier gives what the program said on stderr in the error's place, an empty text included.
      if (error) end({ failed: (error instanceof Error ? error.message : error).trim().slice(0, 300) });
      else if (unix) end('shown');
      else {
        end('shown');
        listener(answered(popup, response, metadata));
      }
    });
  };

  return {
    name: 'node-notifier',
    show(popup, listener) {
      if (asked >= mostAsked) {
        listener({ failed: 'the popup server does not answer' });
        return;
      }
      asked += 1;
      ask(popup, listener).catch((error: unknown) => {
        asked -= 1;
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
    // Without a message it shows nothing at all.
    message: notAnOption(notifySendBody(popup.body)) || ' ',
    urgency: popup.urgency,
    'app-name': 'Homeport',
    hint: soundHint(popup),
    // Its own default, ten seconds, would take an urgent popup away unseen; 0: until it is answered.
    ...(popup.urgency === 'critical' ? { timeout: 0 } : {}),
  };
}

/** node-notifier puts text where options may stand and has no place for `--`; a space in front makes it text. */
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

/** macOS names an action in the metadata, Windows in the response itself, in lower case. */
function answered(popup: Popup, response = '', metadata: NotificationMetadata = {}): PopupEvent {
  const named = [response, metadata.activationValue ?? ''].map((text) => text.toLowerCase());
  const action = popup.actions.find(({ label }) => named.includes(label.toLowerCase()));
  if (action !== undefined) return { action: action.id };
  return response === 'activate' || response === 'contentsclicked' ? 'clicked' : 'closed';
}
