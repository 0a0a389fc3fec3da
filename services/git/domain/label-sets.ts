/** Label of a label set. */
export interface LabelTemplate {
  readonly name: string;
  readonly color: string;
  readonly description: string;
  readonly exclusive: boolean;
}

const label = (name: string, color: string, description: string): LabelTemplate => ({
  name,
  color,
  description,
  exclusive: name.includes('/'),
});

/** Label sets for new repositories. Names and colors of the first set follow Gitea. */
export const labelSets: Readonly<Record<string, readonly LabelTemplate[]>> = {
  Default: [
    label('bug', 'ee0701', 'Something is not working'),
    label('duplicate', 'cccccc', 'This issue or pull request already exists'),
    label('enhancement', '84b6eb', 'New feature'),
    label('help wanted', '128a0c', 'Need some help'),
    label('invalid', 'e6e6e6', 'Something is wrong'),
    label('question', 'cc317c', 'More information is needed'),
    label('wontfix', 'ffffff', 'This will not be fixed'),
  ],
  Advanced: [
    label('Kind/Bug', 'ee0701', 'Something is not working'),
    label('Kind/Documentation', '37474f', 'Documentation changes'),
    label('Kind/Enhancement', '84b6eb', 'Improve existing functionality'),
    label('Kind/Feature', '0288d1', 'New functionality'),
    label('Kind/Security', '9c27b0', 'This is a security issue'),
    label('Priority/Critical', 'b71c1c', 'The priority is critical'),
    label('Priority/High', 'd32f2f', 'The priority is high'),
    label('Priority/Medium', 'e64a19', 'The priority is medium'),
    label('Priority/Low', '4caf50', 'The priority is low'),
    label('Reviewed/Confirmed', '795548', 'Issue has been confirmed'),
    label('Reviewed/Duplicate', '616161', 'This issue or pull request already exists'),
    label('Status/Blocked', '880e4f', 'Something is blocking this issue or pull request'),
    label('Status/Need More Info', '424242', 'Feedback is required to reproduce the issue or to continue'),
  ],
};
