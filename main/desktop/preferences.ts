import { z } from 'zod';
import { WhenClosed } from '../../services/contracts/control/desktop.ts';

const Bounds = z.object({ x: z.int(), y: z.int(), width: z.int().min(1), height: z.int().min(1) });
export type Bounds = z.infer<typeof Bounds>;

/** Preferences of the shell; everything else is a setting of the host. */
const fields = {
  /** Bounds of the window when it is not maximised. */
  bounds: Bounds.nullable(),
  maximized: z.boolean(),
  /** The user was informed that the app continues when its window closes. */
  explainedTray: z.boolean(),
  /** Closing the window leaves the app in the tray. */
  keepRunning: z.boolean(),
  /** Effect of closing the window when no tray shows the app. */
  closing: WhenClosed,
  /** The user does not want to move the app to the Applications folder. */
  staysInFolder: z.boolean(),
  /** Copied video links are offered. */
  watchClipboard: z.boolean(),
} as const;

type Fields = { [Name in keyof typeof fields]: z.infer<(typeof fields)[Name]> };

const defaults: Fields = {
  bounds: null,
  maximized: false,
  explainedTray: false,
  keepRunning: true,
  closing: 'ask',
  staysInFolder: false,
  watchClipboard: false,
};

/** Used part of electron-store. */
export interface Store {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
}

export interface Preferences {
  get<Name extends keyof Fields>(name: Name): Fields[Name];
  set<Name extends keyof Fields>(name: Name, value: Fields[Name]): void;
}

/** Opens the preferences. Invalid values, from manual edits or an older version, are replaced by their default. */
export function openPreferences(store: Store): Preferences {
  return {
    get(name) {
      const read = fields[name].safeParse(store.get(name));
      return (read.success ? read.data : defaults[name]) as Fields[typeof name];
    },
    set: (name, value) => store.set(name, value),
  };
}
