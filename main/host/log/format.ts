/** Ordered by severity. */
export const logLevels = ['debug', 'info', 'warn', 'error'] as const;
export type LogLevel = (typeof logLevels)[number];

/** Event with secrets already removed. */
export interface LogEntry {
  /** Counts up from 1 in this process; the Log page resumes after the last one. */
  readonly id: number;
  /** ms since the epoch. */
  readonly at: number;
  readonly level: LogLevel;
  /** Service or part of the host; `host` for the host itself. */
  readonly service: string;
  readonly message: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

/**
 * Formats a JSON object: `time`, `level`, `service`, `message`, then the fields; a field with one of these names gets
 * the prefix `_`.
 */
export function jsonLine(entry: LogEntry): string {
  const line: Record<string, unknown> = {
    time: new Date(entry.at).toISOString(),
    level: entry.level,
    service: entry.service,
    message: entry.message,
  };
  for (const [name, value] of Object.entries(entry.fields)) line[name in line ? `_${name}` : name] = value;
  return oneLine(JSON.stringify(line));
}

/** Formats a line: `2026-01-02T03:04:05.678Z INFO  push      message published  topic=alerts bytes=12` */
export function textLine(entry: LogEntry): string {
  const start = `${new Date(entry.at).toISOString()} ${entry.level.toUpperCase().padEnd(5)} ${entry.service.padEnd(9)} ${entry.message}`;
  const fields = Object.entries(entry.fields).map(([name, value]) => `${name}=${textValue(value)}`);
  return oneLine(fields.length === 0 ? start : `${start}  ${fields.join(' ')}`);
}

function textValue(value: unknown): string {
  const text = typeof value === 'string' ? value : (JSON.stringify(value) ?? 'undefined');
  if (typeof value === 'object' && value !== null) return text;
  return /^[^\s"=\\]+$/.test(text) ? text : JSON.stringify(text);
}

/**
 * Keeps an event on one line and prevents control of the terminal: control characters, line and paragraph separators
 * and direction marks are written as `\uXXXX`.
 */
export function oneLine(text: string): string {
  return text.replace(/[\p{Cc}\p{Zl}\p{Zp}\u202a-\u202e\u2066-\u2069\u200e\u200f]/gu, escapeCharacter);
}

function escapeCharacter(character: string): string {
  if (character === '\n') return '\\n';
  if (character === '\r') return '\\r';
  if (character === '\t') return '\\t';
  return `\\u${(character.codePointAt(0) ?? 0).toString(16).padStart(4, '0')}`;
}
