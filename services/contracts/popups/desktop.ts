import type { Context } from '../service.ts';

/**
 * Native popup. `title` and `body` are plain text of limited length; a driver only escapes what its server parses as
 * markup.
 */
export interface Popup {
  /** Identity of the popup: another popup with the same id replaces it where the system supports it. */
  readonly id: string;
  readonly title: string;
  readonly body: string;
  readonly urgency: 'low' | 'normal' | 'critical';
  /** Buttons, where the system supports them. */
  readonly actions: readonly PopupAction[];
  readonly silent: boolean;
  /** Popups of one group may be stacked; the group is their source. */
  readonly group: string;
}

/** Button of a popup. */
export interface PopupAction {
  readonly id: string;
  readonly label: string;
}

/** State of a popup. `closed` and `failed` are final; some systems report nothing after `shown`. */
export type PopupEvent = 'shown' | 'clicked' | 'closed' | { readonly action: string } | { readonly failed: string };

/**
 * Shows native popups. `show` returns immediately and never throws: a server that is missing, slow or refuses is
 * reported as `failed` with a message for the log. Disposal ends pending requests.
 */
export interface Notifier extends AsyncDisposable {
  /** Name in the log and in the popups' state: `electron`, `node-notifier`, `none`. */
  readonly name: string;
  show(popup: Popup, listener: (event: PopupEvent) => void): void;
}

/** Desktop functions for services with the capability `desktop`; available from the service's start. */
export interface Desktop {
  readonly notifier: Pick<Notifier, 'name' | 'show'>;
  /** Opens a page of the app, such as `/inbox/12`. */
  readonly openPage: (path: string) => void;
  /** Opens an http or https address. */
  readonly openLink: (url: string) => void;
}

/** Context of services that use the desktop. */
export interface DesktopContext extends Context {
  readonly desktop: Desktop;
}
