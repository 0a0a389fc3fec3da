import type { Context } from '../service.ts';

/** A native popup. `title` and `body` are plain text, already shortened; a driver only escapes what its server reads as markup. */
export interface Popup {
  /** Identity of the popup: one shown again under the same id replaces the earlier one where the system can. */
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly urgency: 'low' | 'normal' | 'critical';
  /** Buttons, where the system has them. */
  readonly actions: readonly PopupAction[];
  /** Without a sound. */
  readonly silent: boolean;
  /** Popups of one group may be stacked together: the source they came from. */
  readonly group: string;
}

export interface PopupAction {
  readonly id: string;
  readonly label: string;
}

/**
 * What became of a popup. `closed` and `failed` are last; a system that tells nothing after `shown` may leave it at
 * that.
 */
export type PopupEvent = 'shown' | 'clicked' | 'closed' | { readonly action: string } | { readonly failed: string };

/**
 * Shows popups in the system's own way. `show` returns at once and never throws: a server that is missing, slow or
 * refuses is told as `failed`, with a sentence for the log. Disposal takes away what still waits for an answer.
 */
export interface Notifier extends AsyncDisposable {
  /** For the log and the popups' state: `electron`, `node-notifier`, `none`. */
  readonly name: string;
  show(popup: Popup, listener: (event: PopupEvent) => void): void;
}

/** What only the desktop in front of a person can do: the capability `desktop`. It is there from the service's start on. */
export interface Desktop {
  readonly notifier: Pick<Notifier, 'name' | 'show'>;
  /** Opens a place of the app's own pages, such as `/inbox/12`. */
  readonly openPage: (path: string) => void;
  /** Opens an http or https address. */
  readonly openLink: (url: string) => void;
}

export interface DesktopContext extends Context {
  readonly desktop: Desktop;
}
