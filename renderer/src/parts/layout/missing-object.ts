/** Text and link that are shown instead of an object that was not found. */
export interface MissingObject {
  /** Names the object, such as "Monitor not found". */
  readonly title: string;
  /** Replaces the default description. */
  readonly description?: string | undefined;
  /** Path of the list of such objects. */
  readonly href: string;
  /** Title of that list, such as "All monitors". */
  readonly listTitle: string;
}
