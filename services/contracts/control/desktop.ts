import { z } from 'zod';

/** State of the desktop app's own update; `absent` where it is updated another way or not at all. */
export const UpdateState = z.enum(['absent', 'idle', 'checking', 'loading', 'ready', 'failed']);
export type UpdateState = z.infer<typeof UpdateState>;

/** Effect of closing the window: show a question, keep the services running, or quit. */
export const WhenClosed = z.enum(['ask', 'keep', 'quit']);
export type WhenClosed = z.infer<typeof WhenClosed>;

/**
 * Calls that a page can make to the desktop window it runs in, by name, each with one argument and a reply. Pages
 * detect the desktop by `bridge` in `window`; a browser has none.
 */
export const bridgeCalls = {
  info: { argument: z.undefined(), reply: z.object({ version: z.string(), platform: z.string() }) },
  quit: { argument: z.undefined(), reply: z.void() },
  hide: { argument: z.undefined(), reply: z.void() },
  /** Secret of the session that the app opened for its window; null when the user signs in by password. */
  session: { argument: z.undefined(), reply: z.string().nullable() },
  /** Absolute path; null when the user cancelled. */
  pickFolder: { argument: z.object({ from: z.string().max(4096) }), reply: z.string().nullable() },
  /** Shows the file of a finished download in the system's file manager; false when it no longer exists. */
  showDownload: { argument: z.object({ uid: z.string().min(1).max(100) }), reply: z.boolean() },
  /** Returns whether copied video links are offered for download in a popup. */
  watchesClipboard: { argument: z.undefined(), reply: z.boolean() },
  watchClipboard: { argument: z.object({ on: z.boolean() }), reply: z.void() },
  startsAtLogin: { argument: z.undefined(), reply: z.boolean() },
  startAtLogin: { argument: z.object({ on: z.boolean() }), reply: z.void() },
  /** With a tray icon, closing the window never shows a question. */
  whenClosed: { argument: z.undefined(), reply: z.object({ choice: WhenClosed, inTray: z.boolean() }) },
  setWhenClosed: { argument: z.object({ choice: WhenClosed }), reply: z.void() },
  update: { argument: z.undefined(), reply: UpdateState },
  checkForUpdate: { argument: z.undefined(), reply: UpdateState },
} as const;

/** Names of the calls that a page can make to the desktop shell. */
export type BridgeCall = keyof typeof bridgeCalls;
type Argument<Name extends BridgeCall> = z.infer<(typeof bridgeCalls)[Name]['argument']>;
type Reply<Name extends BridgeCall> = z.infer<(typeof bridgeCalls)[Name]['reply']>;

/** Type of `window.bridge`. */
export type DesktopBridge = {
  readonly [Name in BridgeCall]: (argument: Argument<Name>) => Promise<Reply<Name>>;
};
