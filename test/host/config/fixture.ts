import { mkdtemp, readdir, readFile, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { z } from 'zod';
import { defineService, type Log, type ServiceDescriptor } from '../../../services/contracts/service.ts';
import { openConfig } from '../../../main/host/config/file-config.ts';
import type { Config, ConfigOptions } from '../../../main/host/config/config.ts';

const neverMade = (): never => {
  throw new Error('no service is made in these tests');
};

const push = defineService({
  id: 'push',
  title: 'Push',
  summary: 'Sends messages to phones and desktops.',
  listeners: [{ name: 'http', title: 'Push', protocol: 'http', port: 2586 }],
  settings: z.object({
    retention: z.int().min(1).max(365).default(7).meta({ title: 'Retention', description: 'Days to keep messages.' }),
    topics: z.array(z.string()).default([]).meta({ title: 'Topics', description: 'Topics to make at once.' }),
    token: z.string().min(8).or(z.literal('')).default('').meta({
      title: 'Token',
      description: 'Of the upstream server.',
      secret: true,
    }),
    limits: z
      .object({ perMinute: z.int().default(60), perDay: z.int().default(1000) })
      .default({ perMinute: 60, perDay: 1000 })
      .meta({ title: 'Limits', description: 'Messages per sender.' }),
    upstreams: z
      .array(z.object({ url: z.url(), password: z.string().meta({ secret: true }) }))
      .default([])
      .meta({ title: 'Upstreams', description: 'Servers to forward to.' }),
    mode: z.enum(['open', 'closed']).default('open').meta({ title: 'Mode', description: 'Who may publish.' }),
    note: z.string().nullable().default('none').meta({ title: 'Note', description: 'Null is a value here.' }),
  }),
  environment: {
    PUSH_RETENTION: 'retention',
    PUSH_TOPICS: 'topics',
    PUSH_TOKEN: 'token',
    PUSH_LIMITS: 'limits',
    PUSH_MODE: 'mode',
  },
  migrations: [],
  create: neverMade,
});

const range = defineService({
  id: 'range',
  title: 'Range',
  summary: 'Has a rule about two fields, and no listener.',
  settings: z
    .object({
      from: z.number().default(1).meta({ title: 'From', description: 'Lower end.' }),
      to: z.number().default(2).meta({ title: 'To', description: 'Upper end.' }),
    })
    .refine(({ from, to }) => from <= to, 'The lower end must not be above the upper.'),
  environment: { RANGE_TO: 'to' },
  migrations: [],
  create: neverMade,
});

const control = defineService({
  id: 'control',
  capabilities: ['controlHost'],
  title: 'Control',
  summary: 'The page of the app.',
  listeners: [{ name: 'http', title: 'Control', protocol: 'http', port: 7700 }],
  settings: z.object({}),
  environment: {},
  migrations: [],
  create: neverMade,
});

/** Descriptors with a field of each kind. */
export const descriptors: readonly ServiceDescriptor[] = [push, range, control];

/** Temporary data folder of a test. */
export class DataFolder implements AsyncDisposable {
  readonly path: string;
  readonly logged: string[] = [];

  private constructor(path: string) {
    this.path = path;
  }

  static async make(text?: string): Promise<DataFolder> {
    const folder = new DataFolder(await mkdtemp(join(tmpdir(), 'homeport-config-')));
    if (text !== undefined) await folder.write('homeport.yaml', text);
    return folder;
  }

  write(name: string, text: string): Promise<void> {
    return writeFile(join(this.path, name), text);
  }

  read(name = 'homeport.yaml'): Promise<string> {
    return readFile(join(this.path, name), 'utf8');
  }

  async names(): Promise<string[]> {
    return (await readdir(this.path)).sort();
  }

  /** Opens the settings of this folder, by default with an empty environment. */
  open(options: Partial<ConfigOptions> = {}): Promise<Config> {
    const note = (message: string, fields?: Record<string, unknown>): void => {
      this.logged.push(`${message} ${JSON.stringify(fields ?? {})}`);
    };
    const log: Log = { debug: note, info: note, warn: note, error: note };
    return openConfig({ dataDir: this.path, descriptors, environment: {}, commandLine: {}, log, ...options });
  }

  async [Symbol.asyncDispose](): Promise<void> {
    await rm(this.path, { recursive: true, force: true });
  }
}
