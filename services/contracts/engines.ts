import { z } from 'zod';

export const EngineName = z.enum(['yt-dlp', 'ffmpeg', 'ffprobe']);
export type EngineName = z.infer<typeof EngineName>;

/** An outside program that does part of a service's work. */
export const Engine = z.object({
  name: EngineName,
  /** Absolute path of the executable; null while it is missing. */
  path: z.string().nullable(),
  version: z.string().nullable(),
  /** Where it was found: the setting, the app's own data folder, or the system. */
  source: z.enum(['setting', 'data', 'system', 'missing']),
  /** When missing: what to do about it, in one sentence. */
  remedy: z.string().nullable(),
});
export type Engine = z.infer<typeof Engine>;

export interface Engines {
  /** Found on first use and remembered; `refresh` looks again. Never throws for a missing engine. */
  find(name: EngineName, options?: { readonly refresh?: boolean }): Promise<Engine>;
}
