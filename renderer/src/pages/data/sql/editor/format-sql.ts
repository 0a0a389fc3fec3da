/**
 * Formats statements for reading: one clause per line, keywords in lower case as in the examples.
 *
 * @throws Error when the text is not SQL that the formatter understands
 */
export async function formatSql(text: string): Promise<string> {
  const { formatDialect, postgresql } = await import('sql-formatter');
  return formatDialect(text, { dialect: postgresql, keywordCase: 'lower', dataTypeCase: 'lower', tabWidth: 2 });
}
