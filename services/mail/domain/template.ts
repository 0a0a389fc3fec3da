/** Variables of a template. */
export interface TemplateValues {
  readonly subject: string;
  readonly from: string;
  readonly body: string;
  /** Recipient address without its type. */
  readonly to: string;
  /** Name of the recipient entry. */
  readonly config: string;
  readonly type: string;
}

/** Fills `$subject` or `${subject}`; `$$` is a dollar sign, and unknown names stay unchanged, as in Mailrise. */
export function fillTemplate(template: string, values: TemplateValues): string {
  const valuesByName = new Map<string, string>(Object.entries(values));
  return template.replace(
    /\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/g,
    (match, dollar: string | undefined, name: string | undefined, braced: string | undefined) =>
      dollar ?? valuesByName.get(name ?? braced ?? '') ?? match,
  );
}
