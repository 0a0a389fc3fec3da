import type { Popup, PopupEvent } from '../../services/contracts/popups/desktop.ts';
import type { HostStatus } from './status.ts';

/** The host runs, with all services that can. */
export interface OpenedHost {
  /** Base address of the app's pages; null while they cannot be served, `problem` then says why. */
  readonly page: string | null;
  readonly problem: string;
  /** The one-time link of the first start; null once there is an administrator. */
  readonly setup: string | null;
  /** The secret of the session that the window is signed in by; null where its person does so by password. */
  readonly session: string | null;
  readonly status: HostStatus;
}

/** The host cannot run. */
export interface Refusal {
  readonly reason: string;
  /** Pages of the Homeport that has this data folder already; null when that is not the reason, or it has none. */
  readonly runningAt: string | null;
}

/** A popup of the host; what becomes of it is told under its ticket. */
export interface TicketedPopup {
  readonly ticket: number;
  readonly popup: Popup;
}

/** What the shell answers to the process of the services. */
export type ShellAnswers = {
  /** Whether the system's key store protects what it keeps. */
  keyStoreIsSafe(): Promise<boolean>;
  wrapKey(bytes: Uint8Array): Promise<string>;
  /** `outdated`: the store would now wrap it better. */
  unwrapKey(text: string): Promise<{ readonly bytes: Uint8Array; readonly outdated: boolean }>;
  opened(host: OpenedHost): void;
  refused(refusal: Refusal): void;
  changed(status: HostStatus): void;
  /** The pages are served elsewhere, or null: not any more. */
  moved(page: string | null): void;
  show(popup: TicketedPopup): void;
  closePopups(): Promise<void>;
  /** An http or https address that a popup leads to, the app's own pages included. */
  openAddress(address: string): void;
};

/** What the process of the services answers to the shell. */
export type HostAnswers = {
  /** Whether it still answers at all. */
  alive(): void;
  popupEvent(told: { readonly ticket: number; readonly event: PopupEvent }): void;
  turn(change: { readonly id: string; readonly on: boolean }): Promise<void>;
  restart(id: string): Promise<void>;
  /** ms since the epoch; null ends the pause. */
  pause(until: number | null): Promise<void>;
  /** Where the file of a finished download is; null when it is not there any more. */
  downloadFile(uid: string): Promise<string | null>;
  /** The machine was asleep. */
  resumed(): Promise<void>;
  note(line: { readonly level: 'info' | 'warn' | 'error'; readonly message: string; readonly error: string }): void;
  /** Ends all services, then the process. Answers how long that may take, in ms. */
  stop(): number;
};
