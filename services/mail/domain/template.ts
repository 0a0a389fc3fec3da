/** What a template can name. */
export interface TemplateValues {
  readonly subject: string;
  readonly from: string;
  readonly body: string;
  /** The recipient without the type behind its name. */
  readonly to: string;
  /** The name of the entry of the recipients. */
  readonly config: string;
  readonly type: string;
}

/** Fills `$subject` or `${subject}`; `$$` is a dollar, and a name that is not known stays as it is, as at the peer. */
export function fill(template: string, values: TemplateValues): string {
  const known = new Map<string, string>(Object.entries(values));
  return template.replace(
    /\$(?:(\$)|([A-Za-z_]\w*)|\{([A-Za-z_]\w*)\})/g,
    (whole, dollar: string | undefined, plain: string | undefined, braced: string | undefined) =>
      dollar ?? known.get(plain ?? braced ?? '') ?? whole,
  );
}
