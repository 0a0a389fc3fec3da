import { parseArgs } from 'node:util';
import type { ServiceManifest, ImportSource } from '../../../services/contracts/service.ts';

/** Options of every command except `help` and `version`. */
interface DataLocation {
  /** Value of `--data-dir`. */
  readonly dataDir: string | undefined;
}

/** Services whose manifests define the commands for imports and engines. */
type Services = readonly Pick<ServiceManifest, 'importSources' | 'engines'>[];

/** Parsed command line. */
export type Command =
  | (DataLocation & {
      readonly name: 'start';
      /** Without a window. */
      readonly headless: boolean;
      /** With a hidden window, as at login. */
      readonly hidden: boolean;
      /** Port of the control listener. */
      readonly port: number | undefined;
      /** Without services, to repair settings. */
      readonly safeMode: boolean;
      /** A `homeport://` link to open, passed by the operating system. */
      readonly link: URL | undefined;
    })
  | { readonly name: 'help' }
  | { readonly name: 'version' }
  /** Without a file: to standard output. */
  | (DataLocation & { readonly name: 'config export'; readonly secrets: boolean; readonly file: string | undefined })
  | (DataLocation & { readonly name: 'config import'; readonly file: string })
  /** Without a file: the one in the data folder. */
  | (DataLocation & { readonly name: 'config check'; readonly file: string | undefined })
  | (DataLocation & {
      readonly name: 'import';
      readonly program: string;
      readonly folder: string;
      /** Only reports what would be imported. */
      readonly dryRun?: boolean;
    })
  | (DataLocation & { readonly name: 'backup'; readonly file: string })
  | (DataLocation & { readonly name: 'restore'; readonly file: string; readonly force: boolean })
  | (DataLocation & { readonly name: 'engines list' })
  /** Without an engine: all missing ones that services need. */
  | (DataLocation & { readonly name: 'engines install'; readonly engine: string | undefined })
  | (DataLocation & { readonly name: 'engines remove'; readonly engine: string })
  | (DataLocation & { readonly name: 'keys replace'; readonly service: string; readonly key: string })
  /** `message` is one sentence for standard error. */
  | { readonly name: 'invalid'; readonly message: string; readonly exitCode: 2 };

/** Returns the text of `homeport --help`. */
export function helpText(services: Services): string {
  return `Homeport: nine self-hosted services in one app.

Usage: homeport [options] [homeport://link]
       homeport <command>

Options
  --headless            start without a window (servers)
  --hidden              start without showing the window (at login)
  --data-dir PATH       the data folder (also: HOMEPORT_DATA_DIR)
  --port N              port of the app's own page (also: HOMEPORT_PORT_CONTROL)
  --safe-mode           start with no service, to repair settings
  --version             print the version
  --help                print this text

Commands
  config export [--secrets] [FILE]   write all settings to FILE or standard output; secrets are sealed unless --secrets
  config import FILE                 make the settings those of FILE
${getImportSources(services).map(importHelp).join('')}  config check [FILE]                check FILE, or the data folder's homeport.yaml
  backup FILE                        write the whole data folder into one file
  restore FILE [--force]             put a backup in place; --force replaces a data folder that is not empty
  engines list                       show the outside programs and their versions
  engines install [NAME]             install or update ${engineNames(services).join(', ')}
  engines remove NAME                remove what "engines install" put into the data folder
  keys replace SERVICE NAME          make a new key in place of a stored one that cannot be read
`;
}

/** Column of the descriptions. */
const helpColumn = 37;

function importHelp({ program, from, what, dryRun }: ImportSource): string {
  const form = `  import ${program} ${from}${dryRun ? ' [--dry-run]' : ''}`;
  const gap = form.length < helpColumn ? form.padEnd(helpColumn) : `${form}\n${' '.repeat(helpColumn)}`;
  return `${gap}take over ${what}\n`;
}

function getImportSources(services: Services): readonly ImportSource[] {
  return services.flatMap(({ importSources = [] }) => importSources);
}

const options = {
  headless: { type: 'boolean' },
  hidden: { type: 'boolean' },
  'data-dir': { type: 'string' },
  port: { type: 'string' },
  'safe-mode': { type: 'boolean' },
  secrets: { type: 'boolean' },
  force: { type: 'boolean' },
  'dry-run': { type: 'boolean' },
  version: { type: 'boolean' },
  help: { type: 'boolean', short: 'h' },
} as const;

type Flag = keyof typeof options;
type Values = ReturnType<typeof parseArgs<{ options: typeof options }>>['values'];

interface ParsedArguments {
  readonly values: Values;
  readonly dataDir: string | undefined;
  /** Argument after the words of the command. */
  readonly first: string | undefined;
  readonly second: string | undefined;
}

/** Form of a command: its words, its arguments, and the resulting command (or the reason why it is invalid). */
interface Form {
  readonly arguments: readonly string[];
  readonly flags: readonly Flag[];
  readonly argument: 'none' | 'optional' | 'file' | 'two';
  command(parsed: ParsedArguments): Command | string;
}

function importForm({ program, dryRun }: ImportSource): Form {
  return {
    arguments: ['import', program],
    flags: dryRun ? ['dry-run'] : [],
    argument: 'file',
    command: ({ values, dataDir, first = '' }) => ({
      name: 'import',
      dataDir,
      program,
      folder: first,
      ...(dryRun ? { dryRun: values['dry-run'] === true } : {}),
    }),
  };
}

/** Without services, every name is passed on unchecked. */
function engineForms(services: Services): readonly Form[] {
  const names = engineNames(services);
  const isUnknown = (name: string): boolean => names.length > 0 && !names.includes(name);
  return [
    {
      arguments: ['engines', 'install'],
      flags: [],
      argument: 'optional',
      command: ({ dataDir, first }) =>
        first !== undefined && isUnknown(first)
          ? `There is no engine "${first}"; there are ${names.join(', ')}.`
          : { name: 'engines install', dataDir, engine: first },
    },
    {
      arguments: ['engines', 'remove'],
      flags: [],
      argument: 'optional',
      command({ dataDir, first }) {
        if (first === undefined) return `"engines remove" needs a name: one of ${names.join(', ')}.`;
        if (isUnknown(first)) return `There is no engine "${first}"; there are ${names.join(', ')}.`;
        return { name: 'engines remove', dataDir, engine: first };
      },
    },
  ];
}

function engineNames(services: Services): readonly string[] {
  return services.flatMap(({ engines = [] }) => engines.map(({ name }) => name));
}

const forms: readonly Form[] = [
  {
    arguments: ['config', 'export'],
    flags: ['secrets'],
    argument: 'optional',
    command: ({ values, dataDir, first }) => ({
      name: 'config export',
      dataDir,
      secrets: values.secrets === true,
      file: first,
    }),
  },
  {
    arguments: ['config', 'import'],
    flags: [],
    argument: 'file',
    command: ({ dataDir, first = '' }) => ({ name: 'config import', dataDir, file: first }),
  },
  {
    arguments: ['config', 'check'],
    flags: [],
    argument: 'optional',
    command: ({ dataDir, first }) => ({ name: 'config check', dataDir, file: first }),
  },
  {
    arguments: ['backup'],
    flags: [],
    argument: 'file',
    command: ({ dataDir, first = '' }) => ({ name: 'backup', dataDir, file: first }),
  },
  {
    arguments: ['restore'],
    flags: ['force'],
    argument: 'file',
    command: ({ values, dataDir, first = '' }) => ({
      name: 'restore',
      dataDir,
      file: first,
      force: values.force === true,
    }),
  },
  {
    arguments: ['engines', 'list'],
    flags: [],
    argument: 'none',
    command: ({ dataDir }) => ({ name: 'engines list', dataDir }),
  },
  {
    arguments: ['keys', 'replace'],
    flags: [],
    argument: 'two',
    command: ({ dataDir, first = '', second = '' }) =>
      first === '' || second === ''
        ? '"keys replace" needs a service and the name of a key, as the message about it has them.'
        : { name: 'keys replace', dataDir, service: first, key: second },
  },
  {
    arguments: [],
    flags: ['headless', 'hidden', 'port', 'safe-mode'],
    argument: 'optional',
    command: start,
  },
];

/** Longer links are refused; no page needs one. */
const maxLinkLength = 2048;

/**
 * Parses the arguments after the program's name. Never throws: unknown arguments result in an `invalid` command.
 * Without services, imports of other programs' data are invalid.
 */
export function parseCommandLine(argv: readonly string[], services: Services = []): Command {
  const read = readArguments(argv);
  if (typeof read === 'string') return invalid(read);
  const { values, positionals } = read;
  if (values.help === true) return { name: 'help' };
  if (values.version === true) return { name: 'version' };

  const all = [...getImportSources(services).map(importForm), ...engineForms(services), ...forms];
  const form = all.find(({ arguments: commandWords }) =>
    commandWords.every((word, index) => positionals[index] === word),
  );
  const dataDir = values['data-dir'];
  if (form === undefined) return invalid('There is no such command.');
  if (dataDir === '') return invalid('--data-dir needs a path.');

  const name = ['homeport', ...form.arguments].join(' ');
  const stray = Object.keys(values).find(
    (flag) => flag !== 'data-dir' && !form.flags.some((allowed) => allowed === flag),
  );
  if (stray !== undefined) return invalid(`"${name}" does not take --${stray}.`);
  const [first, ...others] = positionals.slice(form.arguments.length);
  const [second] = others;
  const extra = form.argument === 'none' ? first : form.argument === 'two' ? others[1] : second;
  if (extra !== undefined) return invalid(`"${name}" does not take "${extra}".`);
  if (form.argument === 'file' && (first === undefined || first === '')) return invalid(`"${name}" needs a file.`);

  const command = form.command({ values, dataDir, first, second });
  return typeof command === 'string' ? invalid(command) : command;
}

function start({ values, dataDir: folder, first }: ParsedArguments): Command | string {
  if (first !== undefined && !/^homeport:\/\//i.test(first)) return `There is no command "${first}".`;
  const link = first === undefined || first.length > maxLinkLength ? null : URL.parse(first);
  if (first !== undefined && link === null) return 'The homeport:// link cannot be read.';
  const port = values.port === undefined ? undefined : Number(values.port);
  if (values.port !== undefined && !/^\d{1,5}$/.test(values.port)) return '--port needs a number from 0 to 65535.';
  if (port !== undefined && port > 65535) return '--port needs a number from 0 to 65535.';
  return {
    name: 'start',
    dataDir: folder,
    headless: values.headless === true,
    hidden: values.hidden === true,
    port,
    safeMode: values['safe-mode'] === true,
    link: link ?? undefined,
  };
}

function readArguments(argv: readonly string[]): { values: Values; positionals: string[] } | string {
  try {
    const { values, positionals } = parseArgs({ args: [...argv], options, allowPositionals: true, strict: true });
    return { values, positionals };
  } catch (error) {
    // parseArgs adds advice about `--` that does not apply here.
    if (error instanceof TypeError) return `${error.message.split('. ')[0] ?? error.message}.`.replace(/\.+$/, '.');
    throw error;
  }
}

function invalid(reason: string): Command {
  return { name: 'invalid', message: `${reason} See homeport --help.`, exitCode: 2 };
}
