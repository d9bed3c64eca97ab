#!/bin/sh
# Prints a ConfigMap with the files of an application, and a hook Job that applies the declaration in every sync.
set -eu
environment=${ARGOCD_ENV_ENVIRONMENT:-}
case $environment in *[!A-Za-z0-9_-]*) echo "ENVIRONMENT is not a name of an environment." >&2 && exit 1 ;; esac
# The Job ends, so a state file would be lost.
grep -qs '^backend:' hosting.yaml ./*.hosting.yaml "environments/$environment.yaml" || {
  echo "The declaration has no backend. See the page on state." >&2
  exit 1
}
case ${HOSTFORM_IMAGE##*/} in
  *:*) ;;
  *) echo "HOSTFORM_IMAGE has no tag and no digest. Set the release image in repo-server.yaml." >&2 && exit 1 ;;
esac
files=$(tar --sort=name --mtime=@0 --owner=0 --group=0 --numeric-owner --exclude=./.git -c . | gzip -n | base64 -w 0)
[ ${#files} -lt 1000000 ] || { echo "The files of the application exceed the limit of a ConfigMap (1 MB)." >&2 && exit 1; }
# Names of Jobs have at most 63 characters, and no underscore as in NAMESPACE_NAME.
name=$ARGOCD_APP_NAME
if [ ${#name} -gt 40 ] || [ "$name" != "${name#*_}" ]; then
  name=$(printf %.27s "$name" | tr _. --)-$(printf %s "$name" | sha256sum | cut -c 1-12)
fi
# A new name for new files: the Job never mounts an earlier version.
files_name=$name-files-$(printf %s "$files" | sha256sum | cut -c 1-12)
cat <<EOF
apiVersion: v1
kind: ConfigMap
metadata:
  name: $files_name
binaryData:
  files.tar.gz: $files
---
apiVersion: batch/v1
kind: Job
metadata:
  name: $name-apply
  annotations:
    argocd.argoproj.io/hook: Sync
    argocd.argoproj.io/hook-delete-policy: BeforeHookCreation
spec:
  backoffLimit: 0
  template:
    spec:
      restartPolicy: Never
      automountServiceAccountToken: false
      terminationGracePeriodSeconds: 90
      securityContext:
        runAsNonRoot: true
        runAsUser: 65532
        runAsGroup: 65532
        fsGroup: 65532
        seccompProfile: { type: RuntimeDefault }
      initContainers:
        - name: files
          image: $HOSTFORM_IMAGE
          workingDir: /work
          command: [tar, -xzf, /files/files.tar.gz]
          securityContext: &restricted
            allowPrivilegeEscalation: false
            readOnlyRootFilesystem: true
            capabilities: { drop: [ALL] }
          volumeMounts: &mounts
            - { name: files, mountPath: /files, readOnly: true }
            - { name: work, mountPath: /work }
            - { name: tmp, mountPath: /tmp }
      containers:
        - name: apply
          image: $HOSTFORM_IMAGE
          workingDir: /work
          args: [apply, --auto-approve, --no-color, --lock-timeout, 10m${environment:+, -e, $environment}]
          envFrom:
            - secretRef: { name: hostform }
          env:
            - { name: HOME, value: /tmp }
          securityContext: *restricted
          volumeMounts: *mounts
      volumes:
        - name: files
          configMap: { name: $files_name }
        - name: work
          emptyDir: {}
        - name: tmp
          emptyDir: {}
EOF
