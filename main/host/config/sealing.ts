import * as m from '#messages/config-problems';
import { type Document, isNode, isScalar, visit, YAMLMap } from 'yaml';
import { Problem } from '../../../services/contracts/problem.ts';
import type { Vault } from '../../../services/contracts/service.ts';
import { readDocument, writeDocument, type Content, type DocumentProblem, type SettingsDocument } from './document.ts';
import { isSealed, replaceSecrets, type SealedSecret } from './secrets.ts';
import type { Field, Section } from './sections.ts';

/** Part of the vault that settings use. */
export type SettingsVault = Pick<Vault, 'seal' | 'open'>;

/** Bound to the field, so that a sealed secret cannot be moved to a field that is shown or sent elsewhere. */
function getPurpose(field: Field): string {
  return `config ${field.path}`;
}

/** Seals a secret for storage; empty and sealed secrets are returned unchanged. */
export function sealSecret(secret: unknown, field: Field, seal: SettingsVault['seal']): unknown {
  if (secret === '' || secret === null || secret === undefined || isSealed(secret)) return secret;
  return { sealed: seal(JSON.stringify(secret), getPurpose(field)) };
}

/** @throws Problem `vault.unreadable` (500) */
export function openSecret({ sealed }: SealedSecret, field: Field, open: SettingsVault['open']): unknown {
  return JSON.parse(open(sealed, getPurpose(field)));
}

/** Returns the content of a section in the file. */
export function sectionContent({ host, services }: Content, { id }: Section): Readonly<Record<string, unknown>> {
  if (id === 'host') return host;
  return Object.hasOwn(services, id) ? (services[id] ?? {}) : {};
}

/** Document with opened secrets in `content`; its text remains sealed. */
interface OpenedDocument {
  readonly document: SettingsDocument;
  /** Paths of the secrets that were not opened, since there was no vault. */
  readonly closed: readonly string[];
}

/** Opens the secrets. A secret that cannot be opened is omitted and reported; without a vault all are omitted. */
export function openDocument(
  document: SettingsDocument,
  sections: readonly Section[],
  vault: SettingsVault | undefined,
): OpenedDocument {
  const problems: DocumentProblem[] = [];
  const closed: string[] = [];
  const getValues = (section: Section): Record<string, unknown> => {
    const values = { ...sectionContent(document.content, section) };
    for (const field of section.fields.filter(({ name, secret }) => secret && Object.hasOwn(values, name))) {
      const value = replaceSecrets(values[field.name], field.place, (secret, path) => {
        if (!isSealed(secret)) return secret;
        const fieldPath = [field.path, ...path].join('.');
        if (vault === undefined) {
          closed.push(fieldPath);
          return undefined;
        }
        try {
          return openSecret(secret, field, (text, purpose) => vault.open(text, purpose));
        } catch (error) {
          if (!(error instanceof Problem)) throw error;
        }
        const line = document.line([...section.path, field.name, ...path]);
        problems.push({ path: fieldPath, message: m.sealedElsewhere, ...(line === undefined ? {} : { line }) });
        return undefined;
      });
      if (value === undefined) delete values[field.name];
      else values[field.name] = value;
    }
    return values;
  };
  const { content } = document;
  const existing = sections.filter(({ id }) => id === 'host' || Object.hasOwn(content.services, id));
  const groups = Object.fromEntries(existing.map((section) => [section.id, getValues(section)]));
  const { host = content.host, ...services } = groups;
  const opened = { ...content, host, services: { ...content.services, ...services } };
  return { document: { ...document, content: opened, problems: [...document.problems, ...problems] }, closed };
}

/**
 * Seals plain text secrets in the text and preserves everything else, including comments. Undefined when there are
 * none. A secret with an &anchor that other nodes refer to is not sealed.
 */
export function sealText(yaml: Document, sections: readonly Section[], vault: SettingsVault): Document | undefined {
  const { content } = readDocument(writeDocument(yaml));
  const sealed = yaml.clone();
  let count = 0;
  for (const section of sections) {
    const values = sectionContent(content, section);
    for (const field of section.fields) {
      replaceSecrets(values[field.name], field.place, (secret, path) => {
        const closedPaths = sealSecret(secret, field, (text, purpose) => vault.seal(text, purpose));
        if (closedPaths !== secret)
          count += setSealed(sealed, [...section.path, field.name, ...path], closedPaths) ? 1 : 0;
        return secret;
      });
    }
  }
  return count === 0 ? undefined : sealed;
}

/** Returns false when the node is shared with others. */
function setSealed(yaml: Document, path: readonly (string | number)[], value: unknown): boolean {
  const old: unknown = yaml.getIn(path, true);
  if (!yaml.hasIn(path) || holdsAnchor(old)) return false;
  const node = yaml.createNode(value);
  if (node instanceof YAMLMap) node.flow = true;
  if (isScalar(old)) {
    node.comment = old.comment ?? null;
    node.commentBefore = old.commentBefore ?? null;
  }
  yaml.setIn(path, node);
  return true;
}

function holdsAnchor(node: unknown): boolean {
  let content = false;
  if (isNode(node)) {
    visit(node, {
      Value: (_key, { anchor }) => {
        content ||= anchor !== undefined;
      },
    });
  }
  return content;
}
