import type { LanguageChoice } from '../../messages/language.ts';
import type { Popup, PopupEvent } from '../../services/contracts/popups/desktop.ts';
import type { HostStatus } from './status.ts';

/** Running host with its services. */
export interface OpenedHost {
  /** Base address of the app's pages; null while they cannot be served, with the reason in `problem`. */
  readonly page: string | null;
  readonly problem: string;
  /** Single-use link of the first start; null once there is an administrator. */
  readonly setup: string | null;
  /** Secret of the window's session; null when the user signs in by password. */
  readonly session: string | null;
  readonly status: HostStatus;
}

/** Reason why the host cannot run. */
export interface Refusal {
  readonly reason: string;
  /** Pages of the Homeport that already uses this data folder; null otherwise, or when it has none. */
  readonly runningAt: string | null;
}

/** Popup of the host; its events are reported under its ticket. */
export interface TicketedPopup {
  readonly ticket: number;
  readonly popup: Popup;
}

/** Handlers of the shell for the host process. */
export type ShellAnswers = {
  /** Returns the language of the tray, for the status of the services. */
  language(): LanguageChoice;
  /** Returns whether the system's key store is secure. */
  keyStoreIsSafe(): Promise<boolean>;
  wrapKey(bytes: Uint8Array): Promise<string>;
  /** `outdated`: the store would now wrap it more securely. */
  unwrapKey(text: string): Promise<{ readonly bytes: Uint8Array; readonly outdated: boolean }>;
  opened(host: OpenedHost): void;
  refused(refusal: Refusal): void;
  changed(status: HostStatus): void;
  /** The address of the pages changed; null: they are not served any more. */
  pageMoved(page: string | null): void;
  show(popup: TicketedPopup): void;
  closePopups(): Promise<void>;
  /** Opens a linked http or https address of a popup, including the app's own pages. */
  openAddress(address: string): void;
};

/** Handlers of the host process for the shell. */
export type HostAnswers = {
  /** Returns when the process responds. */
  alive(): void;
  popupEvent(popupChange: { readonly ticket: number; readonly event: PopupEvent }): void;
  turn(change: { readonly id: string; readonly on: boolean }): Promise<void>;
  restart(id: string): Promise<void>;
  /** ms since the epoch; null ends the pause. */
  pause(until: number | null): Promise<void>;
  /** Returns the path of a finished download; null when it no longer exists. */
  downloadFile(uid: string): Promise<string | null>;
  /** Handles the resume of the computer. */
  resumed(): Promise<void>;
  note(line: { readonly level: 'info' | 'warn' | 'error'; readonly message: string; readonly error: string }): void;
  /** Ends all services, then the process. Returns the time limit in ms. */
  stop(): number;
};
