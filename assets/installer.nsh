; Included by the installer of Windows (electron-builder.yml, nsis.include).
; Removes what the app itself registered for the user. An update runs the uninstaller as well and keeps it.
!macro customUnInstall
  ${ifNot} ${isUpdated}
    ; Start at login: the name is the app user model id (appId in main/shell/desktop.ts).
    DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\Run" "app.homeport.desktop"
    DeleteRegValue HKCU "Software\Microsoft\Windows\CurrentVersion\Explorer\StartupApproved\Run" "app.homeport.desktop"
    ; Links that begin with homeport://
    DeleteRegKey HKCU "Software\Classes\homeport"
    MessageBox MB_OK|MB_ICONINFORMATION "Your data was not removed. It is in $LOCALAPPDATA\homeport. Delete this folder if you no longer need it." /SD IDOK
  ${endIf}
!macroend
