import { z } from 'zod';
import { WhenClosed } from '../../services/contracts/control/desktop.ts';

const Bounds = z.object({ x: z.int(), y: z.int(), width: z.int().min(1), height: z.int().min(1) });
export type Bounds = z.infer<typeof Bounds>;

/** What the shell remembers of its own; everything else is a setting of the host. */
const fields = {
  /** Of the window when it is not maximised. */
  bounds: Bounds.nullable(),
  maximized: z.boolean(),
  /** The person was told that the app goes on when its window closes. */
  explainedTray: z.boolean(),
  /** Closing the window leaves the app in the tray. */
  keepRunning: z.boolean(),
  /** What closing the window does where no tray shows the app. */
  closing: WhenClosed,
  /** Video links that are copied are offered. */
  watchClipboard: z.boolean(),
} as const;

type Fields = { [Name in keyof typeof fields]: z.infer<(typeof fields)[Name]> };

const defaults: Fields = {
  bounds: null,
  maximized: false,
  explainedTray: false,
  keepRunning: true,
  closing: 'ask',
  watchClipboard: false,
};

/** The part of electron-store that is used. */
export interface Store {
  get(name: string): unknown;
  set(name: string, value: unknown): void;
}

export interface Preferences {
  get<Name extends keyof Fields>(name: Name): Fields[Name];
  set<Name extends keyof Fields>(name: Name, value: Fields[Name]): void;
}

/** What somebody wrote into the file by hand, or an older version did, and does not fit stands for its default. */
export function openPreferences(store: Store): Preferences {
  return {
    get(name) {
      const read = fields[name].safeParse(store.get(name));
      return (read.success ? read.data : defaults[name]) as Fields[typeof name];
    },
    set: (name, value) => store.set(name, value),
  };
}
