import { z } from 'zod';

/** What the desktop app's own update is up to; `absent` where it gets its updates another way, or none. */
export const UpdateState = z.enum(['absent', 'idle', 'checking', 'loading', 'ready', 'failed']);
export type UpdateState = z.infer<typeof UpdateState>;

/** What closing the window does: ask, leave the services running, or end them. */
export const WhenClosed = z.enum(['ask', 'keep', 'quit']);
export type WhenClosed = z.infer<typeof WhenClosed>;

/**
 * What a page may ask of the desktop window that it runs in, by the name of the call: its one argument, and its answer.
 * A browser has none of it: pages look for `bridge` in `window`.
 */
export const bridgeCalls = {
  info: { argument: z.undefined(), reply: z.object({ version: z.string(), platform: z.string() }) },
  quit: { argument: z.undefined(), reply: z.void() },
  hide: { argument: z.undefined(), reply: z.void() },
  /** The secret of the session that the app opened for its window; null where its person signs in by password. */
  session: { argument: z.undefined(), reply: z.string().nullable() },
  /** Absolute path; null when the person chose none. */
  pickFolder: { argument: z.object({ from: z.string().max(4096) }), reply: z.string().nullable() },
  /** Shows the file of a finished download in the system's file manager; false when it is not there any more. */
  showDownload: { argument: z.object({ uid: z.string().min(1).max(100) }), reply: z.boolean() },
  /** Whether a video link that is copied anywhere is offered by a popup. */
  watchesClipboard: { argument: z.undefined(), reply: z.boolean() },
  watchClipboard: { argument: z.object({ on: z.boolean() }), reply: z.void() },
  startsAtLogin: { argument: z.undefined(), reply: z.boolean() },
  startAtLogin: { argument: z.object({ on: z.boolean() }), reply: z.void() },
  /** With an icon in the tray that leads back to the window, closing it never asks. */
  whenClosed: { argument: z.undefined(), reply: z.object({ choice: WhenClosed, inTray: z.boolean() }) },
  setWhenClosed: { argument: z.object({ choice: WhenClosed }), reply: z.void() },
  update: { argument: z.undefined(), reply: UpdateState },
  checkForUpdate: { argument: z.undefined(), reply: UpdateState },
} as const;

export type BridgeCall = keyof typeof bridgeCalls;
type Argument<Name extends BridgeCall> = z.infer<(typeof bridgeCalls)[Name]['argument']>;
type Reply<Name extends BridgeCall> = z.infer<(typeof bridgeCalls)[Name]['reply']>;

/** `window.bridge`. */
export type DesktopBridge = {
  readonly [Name in BridgeCall]: (argument: Argument<Name>) => Promise<Reply<Name>>;
};
