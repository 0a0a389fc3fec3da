import { arch, release, totalmem } from 'node:os';
import { currentPlatform } from '../../../services/kit/platform/current-platform.ts';
import type { SettingsView } from '../../../services/contracts/control/settings.ts';
import type { Config } from '../config/config.ts';
import type { HostEngines } from '../engines/engines.ts';
import type { HostLog } from '../log/log.ts';
import type { ServiceRunner } from './service-runner.ts';

interface ReportDependencies {
  readonly version: string;
  readonly runners: ReadonlyMap<string, ServiceRunner>;
  readonly config: Config;
  readonly engines: HostEngines;
  readonly log: HostLog;
}

/** Number of newest warnings and errors in a report. */
const maxLines = 60;

/**
 * Writes a report for support as text: no secrets, since the settings are redacted and the log never contains any.
 * Settings appear only when they differ from the default.
 */
export async function writeReport({ version, runners, config, engines, log }: ReportDependencies): Promise<string> {
  const { rss } = process.memoryUsage();
  const parts = [
    `Homeport ${version}, Node ${process.versions.node}, ${currentPlatform} ${release()} ${arch()}`,
    `${megabytes(rss)} of ${megabytes(totalmem())} in use, up for ${String(Math.round(process.uptime() / 60))} min`,
    '',
    'Services',
    ...[...runners.values()].map(({ state: { id, state, detail, reason, port } }) =>
      [`  ${id}: ${state}`, port === null ? '' : `port ${String(port)}`, reason ?? detail].filter(Boolean).join(', '),
    ),
    '',
    'Engines',
    ...(await engines.list()).map(({ name, version, source }) => `  ${name}: ${version ?? 'missing'} (${source})`),
    '',
    'Settings that are not the default',
    ...changedSettings(config.describe()),
    '',
    'Newest warnings and errors',
    ...log
      .recent({ level: 'warn', limit: maxLines })
      .map(({ at, level, service, message, fields }) =>
        `  ${new Date(at).toISOString()} ${level} ${service}: ${message} ${formatDetails(fields)}`.trimEnd(),
      ),
  ];
  return `${parts.join('\n')}\n`;
}

function changedSettings({ sections }: SettingsView): string[] {
  return sections.flatMap(({ id, fields }) =>
    fields
      .filter(({ origin }) => origin.from !== 'default')
      .map(({ name, value, secret, lockedBy }) => {
        // An address may contain credentials.
        const displayed = secret ? 'set' : JSON.stringify(value).replaceAll(/\/\/[^/\s"@]*@/g, '//…@');
        return `  ${id}.${name} = ${displayed.slice(0, 300)}${lockedBy === null ? '' : ` (by ${lockedBy})`}`;
      }),
  );
}

function formatDetails(fields: Readonly<Record<string, unknown>>): string {
  const text = Object.keys(fields).length === 0 ? '' : JSON.stringify(fields);
  return text.length > 500 ? `${text.slice(0, 499)}…` : text;
}

function megabytes(bytes: number): string {
  return `${String(Math.round(bytes / 1e6))} MB`;
}
