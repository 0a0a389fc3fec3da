/** Major version of the PostgreSQL programs that Homeport contains; the content of `PG_VERSION` in their data folders. */
export const majorVersion = '18';
