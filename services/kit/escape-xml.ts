import { escapeMarkup } from './escape-html.ts';

/** Removes characters that XML 1.0 cannot represent, not even escaped, and the control characters it discourages. */
export function removeInvalidXmlCharacters(text: string): string {
  return text.toWellFormed().replace(/[^\t\n\r\P{Cc}]|[\ufffe\uffff]/gu, '');
}

/** Escapes text for XML content and quoted attributes. */
export function escapeXml(text: string): string {
  return escapeMarkup(removeInvalidXmlCharacters(text)).replaceAll('"', '&quot;').replaceAll("'", '&apos;');
}
