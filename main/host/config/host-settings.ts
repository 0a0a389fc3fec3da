import { z } from 'zod';

const hostName = z.string().regex(/^[a-z0-9.:[\]-]{1,253}$/i, 'Use a host name or address, without http:// or a path.');
const origin = z
  .string()
  .regex(/^https?:\/\/[^/\s]+$/i, 'Use an origin such as https://app.example.org, without a path.');
const path = z.string().max(4096).default('');

/** The host's own settings: the section `host` of homeport.yaml. */
export const HostSettings = z.object({
  allowedHosts: z.array(hostName).default([]).meta({
    title: 'Allowed host names',
    description:
      'Names, besides localhost and the loopback addresses, under which the listeners answer. Requests for any other name are refused, which protects against DNS rebinding.',
  }),
  allowedOrigins: z.array(origin).default([]).meta({
    title: 'Allowed web origins',
    description: 'Web pages of these origins may change things here. Pages of any other origin are refused.',
  }),
  logLevel: z.enum(['debug', 'info', 'warn', 'error']).default('info').meta({
    title: 'Log level',
    description: 'The least serious lines that are written to the log.',
  }),
  logFormat: z.enum(['text', 'json']).default('text').meta({
    title: 'Log format',
    description: 'Lines for people (text) or for a log collector (json).',
  }),
  openBrowser: z.boolean().default(true).meta({
    title: 'Open the browser',
    description: 'Opens the app in the browser after a start without a window, where there is a display.',
  }),
  stopTimeout: z.int().min(1).max(300).default(10).meta({
    title: 'Time to stop',
    description: 'Seconds that running work gets to finish when Homeport stops.',
  }),
  databaseUrl: z
    .string()
    .regex(/^(postgres(ql)?:\/\/.+)?$/, 'Use an address such as postgres://user:password@host/database.')
    .default('')
    .meta({
      title: 'PostgreSQL address',
      description: 'Keeps all tables in this PostgreSQL database in place of SQLite files in the data folder.',
      secret: true,
    }),
  enginesFolder: path.meta({
    title: 'Folder of the engines',
    description:
      'Where yt-dlp and ffmpeg are installed when they are missing. Empty: the folder engines in the data folder.',
  }),
  installEngines: z.boolean().default(true).meta({
    title: 'Install missing engines',
    description:
      'At a start without yt-dlp or ffmpeg, installs them: verified releases, package registries or system packages.',
  }),
  ytDlpPath: path.meta({
    title: 'Path of yt-dlp',
    description: 'The yt-dlp program to use. Empty: the one that was installed, else the one on the PATH.',
  }),
  ffmpegPath: path.meta({
    title: 'Path of ffmpeg',
    description:
      'The ffmpeg program to use, with ffprobe beside it, or the folder of both. Empty: the one that was installed, else the one on the PATH.',
  }),
});
export type HostSettings = z.infer<typeof HostSettings>;

/** Environment name -> field of {@link HostSettings}. */
export const hostEnvironment: Readonly<Record<string, keyof HostSettings>> = {
  HOMEPORT_ALLOWED_HOSTS: 'allowedHosts',
  HOMEPORT_ALLOWED_ORIGINS: 'allowedOrigins',
  LOG_LEVEL: 'logLevel',
  LOG_FORMAT: 'logFormat',
  HOMEPORT_OPEN_BROWSER: 'openBrowser',
  HOMEPORT_STOP_TIMEOUT: 'stopTimeout',
  HOMEPORT_DATABASE_URL: 'databaseUrl',
  HOMEPORT_ENGINES_DIR: 'enginesFolder',
  HOMEPORT_INSTALL_ENGINES: 'installEngines',
  YTDLP_PATH: 'ytDlpPath',
  FFMPEG_PATH: 'ffmpegPath',
};
